/** Finding 39: any certificate of a bundle is trusted, by Node itself or, before it could do so, by the check made here. */
import type { AddressInfo } from 'node:net';
import { createSecureContext, createServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { oldAuthority } from '../pki/old-form.testing.ts';
import { issue, issueServing, newAuthority, newKeyPair, readAuthority } from '../pki.ts';
import { Connections } from './connections.ts';
import { callFault } from './fault.ts';
import { requestHead } from './head.ts';
import { trustIn, trustsPartialChains } from './trust.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0).reverse()) one.close();
});

const now = Date.now();
const day = 24 * 3600 * 1000;
const rootPair = newAuthority('root', now);
const root = readAuthority(rootPair);
const middleKeys = newKeyPair();
const middleCertificate = issue(root, {
  subject: { commonName: 'middle', organizations: [] },
  publicKey: middleKeys.publicKey,
  usages: ['certSign'],
  extendedUsages: [],
  notBefore: now - day,
  notAfter: now + day,
  authority: true,
});
const middle = readAuthority({
  certificate: middleCertificate,
  key: middleKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
});
const names = { commonName: 'peer', dns: ['peer.example'], addresses: ['127.0.0.1'] };
const leaf = issueServing(middle, names, now);
const sibling = issueServing(middle, names, now);
const expired = issueServing(middle, names, now - 800 * day, 400);
const old = oldAuthority('old', now);
const underOld = issueServing(readAuthority(old), names, now);

/** A server that shows a certificate, with what comes before it where it is told to. */
async function serve(pair: { certificate: string; key: string }, chain = '') {
  const heard: string[] = [];
  const server = createServer({ cert: pair.certificate + chain, key: pair.key }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard.push(chunk.toString());
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => server.close() });
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, heard };
}

async function ask(
  to: Awaited<ReturnType<typeof serve>>,
  bundle: string,
  partial: boolean,
  serverName = 'peer.example',
  authoritiesOnly = false,
) {
  const { context, anchors } = trustIn(bundle, authoritiesOnly, partial);
  const connections = new Connections({
    clock: systemClock,
    tls: { secureContext: createSecureContext(context), serverName, anchors },
    maxConnections: 1,
    maxBytes: 1000,
  });
  open.push(connections);
  const head = requestHead('POST', '/', { host: 'x' });
  const call = async (): Promise<string> => (await connections.call(to.address, head, 'secret', 10_000)).body.toString();
  try {
    return await call();
  } catch (error) {
    return callFault(error as Error, to.address);
  }
}
const UNKNOWN = 'x509: certificate signed by unknown authority';

const ways: [string, boolean][] = [['by the check made here', false]];
if (trustsPartialChains()) ways.unshift(['by Node', true]);

test.each(ways)('%s: a root, an intermediate and the leaf itself are trusted', async (_, partial) => {
  for (const bundle of [rootPair.certificate, middleCertificate, leaf.certificate, `${old.certificate}${leaf.certificate}`]) {
    const server = await serve(leaf, middleCertificate);
    expect(await ask(server, bundle, partial)).toBe('ok');
    expect(server.heard.join('')).toContain('secret');
  }
  expect(await ask(await serve(leaf), middleCertificate, partial)).toBe('ok');
  expect(await ask(await serve(underOld), old.certificate, partial)).toBe('ok');
});

test.each(ways)('%s: what does not vouch for the server is not believed, and nothing is sent', async (_, partial) => {
  for (const [pair, chain, bundle, name, fault] of [
    [leaf, middleCertificate, old.certificate, 'peer.example', UNKNOWN],
    // Another certificate of the same authority, and one without the right to sign.
    [leaf, middleCertificate, sibling.certificate, 'peer.example', UNKNOWN],
    [leaf, '', rootPair.certificate, 'peer.example', UNKNOWN],
    [leaf, middleCertificate, middleCertificate, 'other.example', /not in the cert's altnames/],
    [leaf, middleCertificate, leaf.certificate, 'other.example', /not in the cert's altnames/],
    [expired, middleCertificate, middleCertificate, 'peer.example', /expired/i],
  ] as const) {
    const server = await serve(pair, chain);
    expect(await ask(server, bundle, partial, name)).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
    expect(server.heard).toEqual([]);
  }
});

test.each(ways)('%s: where authorities alone are trusted, leaves are not; one of version 1 is an authority', async (_, partial) => {
  for (const bundle of [rootPair.certificate, middleCertificate])
    expect(await ask(await serve(leaf, middleCertificate), bundle, partial, 'peer.example', true)).toBe('ok');
  expect(await ask(await serve(leaf, middleCertificate), leaf.certificate, partial, 'peer.example', true)).toBe(UNKNOWN);
  expect(await ask(await serve(underOld), old.certificate, partial, 'peer.example', true)).toBe('ok');
});

test('Node trusts parts of chains from 20.18 and 22.9 on', () => {
  const can = ['20.18.0', '20.20.2', '22.9.0', '22.12.0', '23.0.0', '24.1.0'];
  const cannot = ['20.12.0', '20.17.9', '21.7.3', '22.0.0', '22.8.0'];
  expect(can.filter((version) => !trustsPartialChains(version))).toEqual([]);
  expect(cannot.filter((version) => trustsPartialChains(version))).toEqual([]);
});
