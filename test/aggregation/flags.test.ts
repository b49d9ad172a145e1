/** What flags change about servers behind this one. */

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseServerFlags, serverOptions } from '../../packages/compose/src/config/server-options.ts';
import { addressesOf } from '../../packages/compose/src/requests/aggregation.ts';
import { FakeStore } from '../../packages/kinds/src/live-view.testing.ts';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueClient, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { startWorld } from './support.ts';

test('a certificate of the administrator is shown and its authority published; none is made', async () => {
  const directory = temporaryDirectory('aggregation');
  const issued = newAuthority('mine', Date.now());
  const client = issueClient(readAuthority(issued), 'my-proxy', [], Date.now());
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const world = await startWorld({
    proxyClientCertFile: write('client.crt', client.certificate),
    proxyClientKeyFile: write('client.key', client.key),
    requestheaderClientCaFile: write('ca.crt', issued.certificate),
    requestheaderUsernameHeaders: ['X-Remote-User'],
    requestheaderAllowedNames: ['my-proxy'],
  });
  const far = await world.extend();
  await world.server.admin.get(`${far.base}/things`);
  expect(far.seen()[0]?.caller).toBe('my-proxy');
  const { data } = await world.server.admin.ok('GET', '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
  expect(data).toMatchObject({ 'requestheader-client-ca-file': issued.certificate, 'requestheader-allowed-names': '["my-proxy"]' });
  expect(readdirSync(join(world.server.dataDir, 'pki')).filter((name) => name.startsWith('front-proxy'))).toEqual([]);
  await world.close();
});

test('a certificate needs its key', () => {
  expect(() => parseServerFlags(['--proxy-client-cert-file', 'x'])).toThrow('needed together');
});

test('redirects pass where they are allowed', async () => {
  const world = await startWorld({ aggregatorRejectForwardingRedirect: false });
  const far = await world.extend();
  far.answer = (_req, res) => void res.writeHead(302, { Location: '/elsewhere' }).end();
  const { status, headers } = await world.server.admin.get(`${far.base}/things`);
  expect([status, headers.location]).toEqual([302, '/elsewhere']);
  await world.close();
});

test('a service is reached by its endpoints, or by its own address where that is asked for', () => {
  const store = new FakeStore();
  const ports = [{ name: 'https', port: 443 }];
  const metadata = { namespace: 'n', name: 's' };
  const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port: 7443 }] }];
  store.put('', 'services', { metadata, spec: { clusterIP: '10.0.0.99', ports } } as never);
  store.put('', 'endpoints', { metadata, subsets } as never);
  const address = (enableAggregatorRouting?: boolean) => {
    const { host, port } = addressesOf(serverOptions({ enableAggregatorRouting }), store.live, seededRandom(1))('n', 's', 443);
    return `${host}:${port}`;
  };
  expect([address(), address(true), address(false)]).toEqual(['192.0.2.7:7443', '192.0.2.7:7443', '10.0.0.99:443']);
  store.put('', 'services', { metadata, spec: { clusterIP: 'None', ports } } as never);
  expect(address(false)).toBe('192.0.2.7:7443');
  store.put('', 'services', { metadata, spec: { type: 'ExternalName', externalName: 'far.example.com' } } as never);
  expect([address(), address(false)]).toEqual(['far.example.com:443', 'far.example.com:443']);
});
