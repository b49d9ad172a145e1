/** Objects of kinds that the release of the API does not have are deleted with their namespace and with their owners. */

import { expect, test } from 'vitest';
import type { ServerOptions } from '../../packages/compose/src/config/server-options.ts';
import { type ComposedServer, composeServer } from '../../packages/compose/src/server.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { KeepAlive } from '../../packages/testing/src/keep-alive.ts';
import { TestTransport } from '../../packages/testing/src/transport.ts';
import type { Loose } from '../support/client.ts';
import { provideSigningKey } from '../support/signing-key.ts';

interface Open {
  readonly server: ComposedServer;
  readonly send: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Loose }>;
  readonly close: () => Promise<void>;
}
async function open(dataDir: string, options: Partial<ServerOptions>): Promise<Open> {
  const settings = { identity: 'kubernetes', disableAdmissionPlugins: ['ServiceAccount'], dataDir, ...options };
  const server = await composeServer(settings, { log: silentLog }, false);
  const transport = new TestTransport(server.requests.handlerForClients(), new KeepAlive());
  return {
    server,
    send: async (method, path, body) => transport.request(method, path, { body }),
    close: async () => {
      transport.close();
      await server.close();
    },
  };
}

const slices = (namespace: string): string => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const slice = (name: string, more: object = {}) => ({ metadata: { name, ...more }, addressType: 'IPv4', endpoints: [] });
const owner = (apiVersion: string, kind: string, name: string, uid: string) => [{ apiVersion, kind, name, uid }];

test('a namespace is emptied of kinds that are not served, and so is what deleted objects own', async () => {
  const dataDir = temporaryDirectory('plat-unserved');
  provideSigningKey(dataDir);
  const create = async ({ send }: Open, path: string, body: unknown): Promise<Loose> => {
    const answer = await send('POST', path, body);
    expect(answer.status, jsonText(answer.body)).toBe(201);
    return answer.body;
  };

  const first = await open(dataDir, { controllers: ['-*'] });
  for (const name of ['emptied', 'kept']) await create(first, '/api/v1/namespaces', { metadata: { name } });
  await create(first, slices('emptied'), slice('one'));
  await create(first, '/apis/storage.k8s.io/v1/namespaces/emptied/csistoragecapacities', {
    metadata: { name: 'one' },
    storageClassName: 'x',
  });
  const map = await create(first, maps('kept'), { metadata: { name: 'owner' } });
  await create(first, slices('kept'), slice('owned', { ownerReferences: owner('v1', 'ConfigMap', 'owner', map.metadata.uid) }));
  const kept = await create(first, slices('kept'), slice('kept'));
  const ownedBy = (name: string, uid: string) => owner('discovery.k8s.io/v1beta1', 'EndpointSlice', name, uid);
  await create(first, maps('kept'), { metadata: { name: 'of-kept', ownerReferences: ownedBy('kept', kept.metadata.uid) } });
  await create(first, maps('kept'), { metadata: { name: 'of-none', ownerReferences: ownedBy('none', 'no-such-uid') } });
  await first.close();

  const old = await open(dataDir, { apiRelease: '1.15', controllers: ['namespace', 'garbagecollector'] });
  const { catalog } = old.server.state;
  const stored = (group: string, plural: string): string[] => {
    const keys: string[] = [];
    catalog.builtin(group, plural).collection?.items.each('', (_item, key) => {
      keys.push(key);
      return undefined;
    });
    return keys;
  };
  expect((await old.send('GET', slices('kept'))).status).toBe(404);
  expect(stored('discovery', 'endpointslices')).toHaveLength(3);
  await old.send('DELETE', '/api/v1/namespaces/emptied');
  await old.send('DELETE', `${maps('kept')}/owner`);
  const found = async () => ({
    namespace: (await old.send('GET', '/api/v1/namespaces/emptied')).status,
    slices: stored('discovery', 'endpointslices'),
    capacities: stored('storage', 'csistoragecapacities'),
    maps: stored('', 'configmaps').filter((key) => key.startsWith('kept/')),
  });
  await expect.poll(found, { timeout: 60_000 }).toEqual({ namespace: 404, slices: ['kept/kept'], capacities: [], maps: ['kept/of-kept'] });
  await old.close();

  const last = await open(dataDir, { controllers: ['-*'] });
  const { items } = (await last.send('GET', '/apis/discovery.k8s.io/v1/endpointslices')).body;
  expect(items.map((item: Loose) => item.metadata.name)).toEqual(['kept']);
  await last.close();
});
