/** Whatever is accepted directly is accepted by OpenSSL: every case is put to both. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { rsaKeys } from '../rsa-keys.testing.ts';
import { toPem } from './certificate.ts';
import { element, oid, read, sequence } from './der.ts';
import { areStrong, directAuthorities, isTrustedDirectly, MAX_BUNDLE } from './direct-trust.ts';
import {
  constraints,
  extendedUsage,
  type Form,
  type Made,
  makeAuthority,
  makeCertificate,
  makeServer,
  names,
  onlyBelow,
  serverExtensions,
  since,
  unknown,
  until,
  usage,
} from './made.testing.ts';
import { oldAuthority } from './old-form.testing.ts';
import { type ExtendedUsage, extendedUsageOids, type KeyUsage } from './usages.ts';

/** What OpenSSL says in Node's own connection: undefined if it accepts the server. */
async function openSsl(chain: string, key: string, bundle: string, name: string): Promise<string | undefined> {
  // Weak certificates are shown as well; the client decides.
  const server = createServer({ cert: chain, key, ciphers: 'DEFAULT:@SECLEVEL=0' }, (socket) => socket.on('error', () => {}).end());
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise((resolve) => {
      const socket = connectPlain((server.address() as AddressInfo).port, '127.0.0.1');
      const isName = /[a-z]/.test(name) && !name.includes(':');
      const secured = connect({ socket, host: name, ...(isName && { servername: name }), ca: bundle }, () => {
        secured.destroy();
        resolve(undefined);
      });
      secured.on('error', (error: NodeJS.ErrnoException) => {
        secured.destroy();
        resolve(error.code ?? error.message);
      });
    });
  } finally {
    server.close();
  }
}
const certificateOf = (pem: string): X509Certificate => new X509Certificate(pem);
const now = Date.now();
const directly = (leaf: Made, bundle: string, name: string, at = now): boolean => {
  const authorities = directAuthorities(bundle);
  return authorities !== undefined && isTrustedDirectly(certificateOf(leaf.certificate), authorities, name, at);
};

const root = makeAuthority('root');
const other = makeAuthority('other');
const impostor = makeAuthority('root');
const leaf = makeServer(root);
const middle = (changes: Partial<Form> = {}): Made => makeAuthority('middle', { issuer: root, ...changes });
const selfSigned = makeCertificate({ name: 'self', extensions: serverExtensions });
const without = (type: string) => serverExtensions.filter(({ oid }) => oid !== type);
const withUsage = (...usages: readonly KeyUsage[]) => [usage(...usages), ...without('2.5.29.15')];
const withExtended = (...usages: readonly ExtendedUsage[]) => [extendedUsage(...usages), ...without('2.5.29.37')];
const withNames = (...given: Parameters<typeof names>) => [names(...given), ...without('2.5.29.17')];

interface Case {
  readonly leaf: Made;
  /** What the server sends after its own certificate. */
  readonly more?: readonly Made[];
  /** The CA file; the root if absent. */
  readonly bundle?: string;
  readonly name?: string;
  readonly direct: boolean;
  readonly openSsl: 'accepts' | 'refuses';
}
const accepted = (made: Made, changes: Partial<Case> = {}): Case => ({ leaf: made, direct: true, openSsl: 'accepts', ...changes });
/** An unusual one that OpenSSL must look at, and accepts. */
const left = (made: Made, changes: Partial<Case> = {}): Case => ({ leaf: made, direct: false, openSsl: 'accepts', ...changes });
const refused = (made: Made, changes: Partial<Case> = {}): Case => ({ leaf: made, direct: false, openSsl: 'refuses', ...changes });

const under = (authority: Made, how: (made: Made, changes?: Partial<Case>) => Case, changes: Partial<Form> = {}): Case =>
  how(makeServer(authority, changes), { bundle: authority.certificate });
const through = (between: Made, how: (made: Made, changes?: Partial<Case>) => Case): Case => how(makeServer(between), { more: [between] });

/** A CA with the settings of OpenSSL after it: it must not be trusted for servers. */
const distrusted = (made: Made): string =>
  toPem('CERTIFICATE', Buffer.concat([certificateOf(made.certificate).raw, sequence(implicitSequence(oid(extendedUsageOids.serverAuth)))]));
const implicitSequence = (content: Buffer): Buffer => element(0xa0, content);
/** Without key identifiers, OpenSSL knows an issuer by its name alone. */
const nameless = (name: string): Made => makeAuthority(name, { hasKeyIds: false });

const cases: Record<string, () => Case> = {
  'a certificate of the CA': () => accepted(leaf),
  'by address': () => accepted(leaf, { name: '127.0.0.1' }),
  'by an address of version 6': () => accepted(leaf, { name: '::1' }),
  'by a wildcard': () => accepted(leaf, { name: 'a.wild.example' }),
  'the common name alone': () => accepted(makeServer(root, { extensions: without('2.5.29.17') }), { name: 'peer' }),
  RSA: () => under(makeAuthority('rsa', { keys: rsaKeys(0), digest: 'sha512' }), accepted, { keys: rsaKeys(0) }),
  'P-384': () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    return under(makeAuthority('p384', { keys, digest: 'sha384' }), accepted, { digest: 'sha384' });
  },
  'two CAs in the file': () => accepted(leaf, { bundle: other.certificate + root.certificate }),
  'lines that end as on Windows': () => accepted(leaf, { bundle: root.certificate.replaceAll('\n', '\r\n') }),
  'a CA with a path length of 0': () => under(makeAuthority('short', { extensions: [constraints(true, 0)] }), accepted),
  'a CA without key usage': () => under(makeAuthority('plain', { extensions: [constraints(true)] }), accepted),
  'neither usage nor extended usage': () =>
    accepted(makeServer(root, { extensions: without('2.5.29.15').filter(({ oid }) => oid !== '2.5.29.37') })),
  'an intermediate that is sent along, and not needed': () => accepted(leaf, { more: [middle()] }),

  'another CA': () => refused(leaf, { bundle: other.certificate }),
  'another CA of the same name': () => refused(leaf, { bundle: impostor.certificate }),
  'two CAs of the same name': () => left(leaf, { bundle: impostor.certificate + root.certificate }),
  'a CA with settings that distrust it': () => refused(leaf, { bundle: distrusted(root) }),
  'an extended usage whose identifier is not in its shortest form': () => {
    const padded = element(0x06, Buffer.from([0x2b, 6, 1, 5, 5, 7, 3, 0x80, 1]));
    const odd = { oid: '2.5.29.37', critical: false, value: sequence(padded) };
    return refused(makeServer(root, { extensions: [odd, ...without('2.5.29.37')] }));
  },
  'an expired certificate': () => refused(makeServer(root, { to: now - 1000 })),
  'a certificate of the future': () => refused(makeServer(root, { from: now + 3_600_000 })),
  'an expired CA': () => under(makeAuthority('old', { to: now - 1000 }), refused),
  'a CA of the future': () => under(makeAuthority('new', { from: now + 3_600_000 }), refused),
  'another name': () => refused(leaf, { name: 'other.example' }),
  'another address': () => refused(leaf, { name: '10.0.0.2' }),
  'a wildcard for two labels': () => refused(leaf, { name: 'a.b.wild.example' }),
  'an address as a name': () => refused(makeServer(root, { extensions: withNames(['127.0.0.1']) }), { name: '127.0.0.1' }),
  'the common name beside others': () => refused(leaf, { name: 'peer' }),
  'only for clients': () => refused(makeServer(root, { extensions: withExtended('clientAuth') })),
  'for any use': () => refused(makeServer(root, { extensions: withExtended('any') })),
  'a CA only for clients': () => under(makeAuthority('c', { extensions: [constraints(true), extendedUsage('clientAuth')] }), refused),
  'a key that only signs certificates': () => refused(makeServer(root, { extensions: withUsage('certSign') })),
  'a CA that may not sign': () => under(makeAuthority('c', { extensions: [constraints(true), usage('digitalSignature')] }), refused),
  'a CA that is none': () => under(makeAuthority('c', { extensions: [constraints(false)] }), refused),
  'another key identifier': () => refused(makeServer(root, { issuerKeyId: Buffer.alloc(20) })),
  'a critical extension that is not known': () => refused(makeServer(root, { extensions: [...serverExtensions, unknown(true)] })),
  'a critical extension of the CA': () => under(makeAuthority('c', { extensions: [constraints(true), unknown(true)] }), refused),
  'an extension twice': () => refused(makeServer(root, { extensions: [...serverExtensions, constraints(false)] })),
  'names that the CA may not give': () => under(makeAuthority('c', { extensions: [constraints(true), onlyBelow('x.example')] }), refused),
  'SHA-1': () => refused(makeServer(root, { digest: 'sha1' })),
  'the certificate of another server as CA': () => under(leaf, refused),
  'a missing intermediate': () => refused(makeServer(middle())),
  'an intermediate that is no CA': () => through(makeServer(root), refused),
  'an intermediate with one too many below the CA': () => {
    const short = makeAuthority('short', { extensions: [constraints(true, 0)] });
    const between = makeAuthority('between', { issuer: short });
    return refused(makeServer(between), { more: [between], bundle: short.certificate });
  },
  'an intermediate alone in the file': () => {
    const between = middle();
    return refused(makeServer(between), { bundle: between.certificate });
  },
  'an expired intermediate': () => through(middle({ to: now - 1000 }), refused),
  'a self-signed server that is not in the file': () => refused(selfSigned),

  'an intermediate': () => through(middle(), left),
  'a self-signed server as its own CA': () => left(selfSigned, { bundle: selfSigned.certificate }),
  'an extension that is not known': () => left(makeServer(root, { extensions: [...serverExtensions, unknown(false)] })),
  'names that the CA may give': () => under(makeAuthority('c', { extensions: [constraints(true), onlyBelow('example')] }), left),
  'a server that is a CA': () => left(makeServer(root, { extensions: [constraints(true), ...without('2.5.29.19')] })),
  'a text before the CA': () => left(leaf, { bundle: `# root\n${root.certificate}` }),
  'a curve that is not offered': () => refused(makeServer(root, { keys: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) })),
};

test.each(Object.entries(cases))('%s', async (_, make) => {
  const { leaf: made, more = [], bundle = root.certificate, name = 'peer.example', direct, openSsl: wanted } = make();
  const chain = [made, ...more].map(({ certificate }) => certificate).join('');
  const fault = await openSsl(chain, made.key, bundle, name);
  expect(fault === undefined ? 'accepts' : 'refuses', fault).toBe(wanted);
  expect(directly(made, bundle, name)).toBe(direct);
  // The rule of all: never more than OpenSSL.
  if (direct) expect(fault).toBeUndefined();
});

test('of two CAs whose names differ in capitals and spaces OpenSSL chooses', () => {
  const [one, two] = [nameless('same name'), nameless('Same  Name')];
  const made = makeServer(one, { hasKeyIds: false });
  const isDirect = (...bundle: readonly Made[]): boolean =>
    directly(made, bundle.map(({ certificate }) => certificate).join(''), 'peer.example');
  expect([isDirect(one), isDirect(one, other), isDirect(one, two), isDirect(two, one)]).toEqual([true, true, false, false]);
});

test('keys are as strong as the security level of OpenSSL requires', () => {
  const rsa = makeAuthority('rsa', { keys: rsaKeys(0) });
  const chains = [leaf, makeServer(rsa), makeServer(root, { keys: rsaKeys(0) })].map(({ certificate }, i) => [
    certificateOf(certificate),
    certificateOf(i === 1 ? rsa.certificate : root.certificate),
  ]);
  const at = (level: number): boolean[] => chains.map((chain) => areStrong(chain, `DEFAULT:@SECLEVEL=${level}`));
  expect([2, 3, 4].map(at)).toEqual([
    [true, true, true],
    [true, false, false],
    [false, false, false],
  ]);
});

test('a CA of version 1 is left to OpenSSL', () => {
  const old = oldAuthority('old', now);
  expect(directAuthorities(old.certificate)).toHaveLength(1);
  expect(directly(makeServer({ ...root, name: 'old' }), old.certificate, 'peer.example')).toBe(false);
});

test('a certificate is valid from its first second to before its last', () => {
  const at = (time: number): boolean => directly(leaf, root.certificate, 'peer.example', time);
  expect([since - 1, since, until - 1, until].map(at)).toEqual([false, true, true, false]);
  // The CA expires before its servers.
  const short = makeAuthority('short', { to: since + 5000 });
  const made = makeServer(short);
  expect([4999, 5000].map((after) => directly(made, short.certificate, 'peer.example', since + after))).toEqual([true, false]);
});

test('years from 2050 on have four digits, days that are none are refused', () => {
  const far = makeServer(root, { to: Date.UTC(2060, 5, 1) });
  expect(directly(far, root.certificate, 'peer.example', Date.UTC(2047, 0, 1))).toBe(true);
});

test('no change of a byte is accepted', () => {
  const authorities = directAuthorities(root.certificate) ?? [];
  const { raw } = certificateOf(leaf.certificate);
  expect(isTrustedDirectly(new X509Certificate(raw), authorities, 'peer.example', now)).toBe(true);
  for (let i = 0; i < raw.length; i++) {
    const changed = Buffer.from(raw);
    changed[i] = (changed[i] as number) ^ (1 << (i % 8));
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(changed);
    } catch {
      continue;
    }
    expect(isTrustedDirectly(certificate, authorities, 'peer.example', now), `byte ${i}`).toBe(false);
  }
});

test('a signature of another certificate, and one more field, are refused', () => {
  const authorities = directAuthorities(root.certificate) ?? [];
  const parts = (made: Made) =>
    read(Buffer.from(certificateOf(made.certificate).raw))
      .children()
      .map(({ raw }) => raw);
  const [body, algorithm] = parts(leaf);
  const [, , signature] = parts(makeServer(root, { name: 'another' }));
  const mixed = new X509Certificate(sequence(body as Buffer, algorithm as Buffer, signature as Buffer));
  expect(isTrustedDirectly(mixed, authorities, 'peer.example', now)).toBe(false);
});

test('a file that is more than certificates is left to OpenSSL', () => {
  const { certificate } = root;
  const block = certificate.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE');
  for (const file of [
    '',
    'x',
    `${certificate}x`,
    `${certificate}${block}`,
    block,
    certificate.replace('\n', '\nKey: x\n\n'),
    certificate.slice(0, -40),
  ])
    expect(directAuthorities(file), JSON.stringify(file.slice(0, 60))).toBeUndefined();
  expect(directAuthorities(certificate.repeat(8))).toHaveLength(8);
  expect(directAuthorities(certificate.repeat(9))).toBeUndefined();
  const padded = (size: number): string => certificate + '\n'.repeat(size - certificate.length);
  expect(directAuthorities(padded(MAX_BUNDLE))).toHaveLength(1);
  expect(directAuthorities(padded(MAX_BUNDLE + 1))).toBeUndefined();
  // Base64 of something else.
  expect(directAuthorities('-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n')).toBeUndefined();
});
