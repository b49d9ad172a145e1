/**
 * TLS of the server: certificates by name, versions and cipher suites, and the CAs of client
 * certificates. All of it may change while the server runs; open connections keep their settings.
 */

import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import { type Followed, fixed } from '@plat-dev/lib/files/reload';
import { own } from '@plat-dev/lib/own';

/** PEM of a certificate, followed by its intermediates, and of its key. */
export interface ServingPair {
  readonly certificate: string;
  readonly key: string;
}
/** A certificate for certain SNI names. */
export interface NamedPair extends ServingPair {
  /** `api.example.com`, `*.example.com`; empty: the names of the certificate itself. */
  readonly names: readonly string[];
}
export interface TlsOptions {
  readonly serving: Followed<ServingPair>;
  readonly named?: readonly Followed<NamedPair>[];
  /** CAs by which OpenSSL verifies client certificates. */
  readonly clientCAs: Followed<readonly X509Certificate[]>;
  readonly minVersion?: TlsVersion | undefined;
  /** By the names of the flag; empty: the defaults of Node. */
  readonly cipherSuites?: readonly string[];
}

export const tlsVersions = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>;
export type TlsVersion = keyof typeof tlsVersions;

/** Suites of TLS 1.3 have one name everywhere. */
const newSuites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
/** IANA names, as stock servers use them → names of OpenSSL. */
const olderSuites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
};
/** The accepted names of `--tls-cipher-suites`. */
export const cipherSuiteNames: readonly string[] = [...newSuites, ...Object.keys(olderSuites)];
export const isNewSuite = (name: string): boolean => newSuites.includes(name);

/** An invalid pair throws here, with the problem and the message of OpenSSL. */
export function checkPair({ certificate, key }: ServingPair): void {
  partOf('the certificate file holds no certificate in PEM form', () => createSecureContext({ cert: certificate }));
  partOf('the key file holds no private key in PEM form, or one with a password', () => createPrivateKey(key));
  partOf('the key does not belong to the certificate', () => createSecureContext({ cert: certificate, key }));
}
function partOf(fault: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new Error(`${fault} (${(error as Error).message})`, { cause: error });
  }
}

/** Whether the security level is lowered: OpenSSL refuses the oldest versions otherwise. It then accepts weak certificates as well. */
export const isWeak = ({ minVersion }: TlsOptions): boolean => minVersion === 'VersionTLS10' || minVersion === 'VersionTLS11';

function sharedOptions(options: TlsOptions): SecureContextOptions {
  const { minVersion = 'VersionTLS12', cipherSuites = [], clientCAs } = options;
  const suiteNames = cipherSuites.map((name) => own(olderSuites, name) ?? name);
  // Stock servers offer all suites of TLS 1.3 unless some of them are named.
  const suites = suiteNames.length === 0 || cipherSuites.some(isNewSuite) ? suiteNames : [...newSuites, ...suiteNames];
  const weak = isWeak(options);
  const ciphers = suites.length > 0 ? suites.join(':') : weak ? 'DEFAULT' : undefined;
  return {
    minVersion: tlsVersions[minVersion],
    // No renegotiation, as stock servers: each costs a handshake, outside of the limits for those of new connections. No resumed
    // sessions: they would keep the verdict on a client certificate that was made with the CAs of an earlier time.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
    ...(ciphers !== undefined && { ciphers: weak ? `${ciphers}:@SECLEVEL=0` : ciphers, honorCipherOrder: true }),
    ...(clientCAs.current.length > 0 && { ca: clientCAs.current.map(String) }),
  };
}

/** Signature algorithms by the type of the key that they need. */
const signatures: Readonly<Record<string, string>> = {
  ec: 'ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512',
  ed25519: 'ed25519',
  ed448: 'ed448',
  'rsa-pss': 'rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512',
  rsa: 'rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:rsa_pkcs1_sha256:rsa_pkcs1_sha384:rsa_pkcs1_sha512',
};
/**
 * Puts what needs the type of the own key last: a certificate for a name whose key is of another type does not replace the
 * own one in a connection, but is added to it, and OpenSSL takes the first that the client can use.
 */
function ownKeyLast(certificate: string, ciphers = DEFAULT_CIPHERS): SecureContextOptions {
  const ownType = new X509Certificate(certificate).publicKey.asymmetricKeyType ?? '';
  const types = Object.keys(signatures).filter((type) => type !== ownType);
  const suites = ciphers.split(':');
  const ofOtherKeys = suites.filter((suite) => suite.includes(ownType.startsWith('rsa') ? '-ECDSA-' : '-RSA-'));
  return {
    sigalgs: [...types, ownType].flatMap((type) => own(signatures, type) ?? []).join(':'),
    ciphers: [...ofOtherKeys, ...suites].join(':'),
    honorCipherOrder: true,
  };
}

export interface TlsContexts {
  /** For `https.createServer`, together with the options that are not about TLS. */
  readonly options: SecureContextOptions & {
    readonly requestCert: boolean;
    readonly SNICallback?: (name: string, done: (error: Error | null, context?: SecureContext) => void) => void;
  };
  /** `replace` is given the options of `setSecureContext` whenever they change. */
  onChange(replace: (options: SecureContextOptions) => void): void;
}

export function tlsContexts(options: TlsOptions): TlsContexts {
  const { serving, clientCAs, named = [] } = options;
  const ownContext = (): SecureContextOptions => {
    const { key, certificate: cert } = serving.current;
    const shared = sharedOptions(options);
    return { ...shared, ...(named.length > 0 && ownKeyLast(cert, shared.ciphers)), key, cert };
  };
  let byName = named.length > 0 ? contextsByName(options, named) : undefined;
  return {
    options: {
      ...ownContext(),
      requestCert: clientCAs.current.length > 0,
      ...(byName !== undefined && { SNICallback: (name, done) => done(null, byName?.(name)) }),
    },
    onChange(replace) {
      const changed = (): void => {
        replace(ownContext());
        if (named.length > 0) byName = contextsByName(options, named);
      };
      for (const one of [serving, clientCAs, ...named] as Followed<unknown>[]) one.onChange(changed);
    },
  };
}

/** Exact names win over patterns, configured names over those of certificates, and earlier pairs over later ones. */
function contextsByName(options: TlsOptions, namedPairs: readonly Followed<NamedPair>[]): (name: string) => SecureContext | undefined {
  const contexts = new Map<string, SecureContext>();
  const pairs = namedPairs.map(({ current }) => current);
  const ordered = [...pairs.filter(({ names }) => names.length > 0), ...pairs.filter(({ names }) => names.length === 0)];
  for (const { names, key, certificate } of ordered) {
    const context = createSecureContext({ ...sharedOptions(options), key, cert: certificate });
    for (const name of names.length > 0 ? names : namesOf(certificate)) {
      if (!contexts.has(name.toLowerCase())) contexts.set(name.toLowerCase(), context);
    }
  }
  return (name) => {
    const lowerCaseName = name.toLowerCase();
    return contexts.get(lowerCaseName) ?? contexts.get(lowerCaseName.replace(/^[^.]*/, '*'));
  };
}

function namesOf(pem: string): string[] {
  const certificate = new X509Certificate(pem);
  const names = [...(certificate.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)].map((match) => match[1] as string);
  const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
  return common === undefined || names.includes(common) ? names : [common, ...names];
}

export const fixedTls = (pair: ServingPair, clientCAs: readonly X509Certificate[] = []): TlsOptions => ({
  serving: fixed(pair),
  clientCAs: fixed(clientCAs),
});
