/** Certificates, CAs and keys of a server that are read from files, and reloaded while it runs. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { type FileReloader, type Followed, fixed } from '@plat-dev/lib/files/reload';
import { type Revoked, readBundle, readPublicKeys, readRevoked } from '@plat-dev/pki';
import { OwnCertificates } from '@plat-dev/server/connections/own-certificates';
import { checkPair, type NamedPair, type ServingPair, type TlsOptions } from '@plat-dev/server/connections/tls';
import type { ServerOptions } from '../config/server-options.ts';
import type { Credentials } from './credentials.ts';

export interface Bundle {
  readonly pem: string;
  readonly roots: readonly X509Certificate[];
}
export interface Trust {
  /** CAs of clients; those of this server come first. */
  readonly clientCAs: Followed<Bundle>;
  /** The CA of authenticating proxies. */
  readonly proxyCA: Followed<Bundle> | undefined;
  readonly revoked: Followed<Revoked> | undefined;
  /** Keys in addition to the server's own that verify service account tokens. */
  readonly tokenKeys: Followed<readonly KeyObject[]>;
  /** Client certificate for aggregated API servers. */
  readonly proxyClient: Followed<ServingPair> | undefined;
  /** The CA of node agents, and the client certificate for them. */
  readonly nodeCA: Followed<Bundle> | undefined;
  readonly nodeClient: Followed<ServingPair> | undefined;
  readonly tls: TlsOptions;
  /** The serving certificates: the server must not connect to a server that has one of these. */
  readonly own: OwnCertificates;
}

export function composeTrust(options: ServerOptions, credentials: Credentials, files: FileReloader): Trust {
  const ownBundle: Bundle = { pem: credentials.authority.certificate.toString(), roots: [credentials.authority.certificate] };
  const follow = <T>(flag: string, file: string | undefined, read: (contents: readonly string[]) => T): Followed<T> | undefined =>
    file === undefined ? undefined : withFlagName(flag, () => files.follow([file], read));
  const keyFiles = options.serviceAccountKeyFile;
  const clientCAs = together([fixed(ownBundle), follow('client-ca-file', options.clientCaFile, bundleOf)]);
  const proxyCA = follow('requestheader-client-ca-file', options.requestheaderClientCaFile, bundleOf);
  const tls: TlsOptions = {
    serving: pair(files, 'tls-cert-file', options.tlsCertFile, options.tlsPrivateKeyFile) ?? fixed(credentials.serving),
    named: options.tlsSniCertKey.map(({ certificate, key, names }): Followed<NamedPair> => {
      const followed = pair(files, 'tls-sni-cert-key', certificate, key) as Followed<ServingPair>;
      return {
        get current() {
          return { ...followed.current, names };
        },
        onChange: (call) => followed.onChange((changedPair) => call({ ...changedPair, names })),
      };
    }),
    clientCAs: rootsOf(together([clientCAs, proxyCA])),
    minVersion: options.tlsMinVersion,
    cipherSuites: options.tlsCipherSuites,
  };
  return {
    clientCAs,
    proxyCA,
    revoked: follow('revoked-certificates-file', options.revokedCertificatesFile, ([text]) => readRevoked(text as string)),
    tokenKeys:
      keyFiles.length === 0
        ? fixed([])
        : withFlagName('service-account-key-file', () => files.follow(keyFiles, (texts) => texts.flatMap((text) => readPublicKeys(text)))),
    proxyClient: pair(files, 'proxy-client-cert-file', options.proxyClientCertFile, options.proxyClientKeyFile),
    nodeCA: follow('kubelet-certificate-authority', options.kubeletCertificateAuthority, bundleOf),
    nodeClient: pair(files, 'kubelet-client-certificate', options.kubeletClientCertificate, options.kubeletClientKey),
    tls,
    own: new OwnCertificates(() => [tls.serving, ...(tls.named ?? [])].map(({ current }) => current.certificate)),
  };
}

const bundleOf = ([pem]: readonly string[]): Bundle => ({ pem: pem as string, roots: readBundle(pem as string) });

/** Several bundles as one. */
function together(bundles: readonly (Followed<Bundle> | undefined)[]): Followed<Bundle> {
  const parts = bundles.filter((bundle) => bundle !== undefined);
  const join = (): Bundle => ({
    pem: parts.map(({ current }) => current.pem).join(''),
    roots: parts.flatMap(({ current }) => current.roots),
  });
  let current = join();
  for (const part of parts)
    part.onChange(() => {
      current = join();
    });
  return {
    get current() {
      return current;
    },
    onChange: (call) => {
      for (const part of parts) part.onChange(() => call(current));
    },
  };
}
const rootsOf = (bundle: Followed<Bundle>): Followed<readonly X509Certificate[]> => ({
  get current() {
    return bundle.current.roots;
  },
  onChange: (call) => bundle.onChange(({ roots }) => call(roots)),
});

function pair(
  files: FileReloader,
  flag: string,
  certificateFile: string | undefined,
  keyFile: string | undefined,
): Followed<ServingPair> | undefined {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  return withFlagName(flag, () =>
    files.follow([certificateFile, keyFile], ([certificate, key]) => {
      const servingPair = { certificate: certificate as string, key: key as string };
      checkPair(servingPair);
      return servingPair;
    }),
  );
}

function withFlagName<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`--${flag}: ${(error as Error).message}`);
  }
}
