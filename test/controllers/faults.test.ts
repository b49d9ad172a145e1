/** Whatever a controller was in the middle of when its process died is finished by the next one. */
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { programMissing } from '../support/program.ts';
import { countOf, type KilledServer, many, startServerChild, until } from './support.ts';

/** So many that the first process is killed in the midst of them. */
const COUNT = 300;
const maps = '/api/v1/namespaces/busy/configmaps';
const options = { store: 'lmdb', identity: 'kubernetes' };

const servers: KilledServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});
async function start(dataDir: string): Promise<KilledServer> {
  const server = await startServerChild(dataDir, options);
  servers.push(server);
  return server;
}

const because = programMissing === undefined ? '' : ` (skipped: ${programMissing})`;

test.skipIf(programMissing !== undefined)(
  `the deletion of a namespace goes on after a crash in its middle${because}`,
  async () => {
    const dataDir = temporaryDirectory('plat-controllers');
    const first = await start(dataDir);
    await first.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'busy' } });
    await many(COUNT, (i) => first.admin.ok('POST', maps, { metadata: { name: `m${i}` } }));
    await first.admin.ok('DELETE', '/api/v1/namespaces/busy');
    await until('some are gone', async () => (await countOf(first.admin, maps)) < COUNT);
    await first.kill();

    const second = await start(dataDir);
    await until('the namespace is gone', async () => (await second.admin.get('/api/v1/namespaces/busy')).status === 404);
    expect(await countOf(second.admin, maps)).toBe(0);
  },
  120_000,
);

test.skipIf(programMissing !== undefined)(
  `a cascade of the collector goes on after a crash in its middle${because}`,
  async () => {
    const dataDir = temporaryDirectory('plat-controllers');
    const first = await start(dataDir);
    await first.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'busy' } });
    const owner = await first.admin.ok('POST', maps, { metadata: { name: 'owner' } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true }];
    await first.admin.ok('POST', maps, { metadata: { name: 'stays' } });
    await many(COUNT, (i) => first.admin.ok('POST', maps, { metadata: { name: `m${i}`, ownerReferences } }));
    const before = await countOf(first.admin, maps);
    await first.admin.ok('DELETE', `${maps}/owner?propagationPolicy=Foreground`);
    await until('some are gone', async () => (await countOf(first.admin, maps)) < before);
    await first.kill();

    const second = await start(dataDir);
    await until('the owner is gone', async () => (await second.admin.get(`${maps}/owner`)).status === 404);
    const left = await second.admin.ok('GET', maps);
    expect(left.items.map((object: { metadata: { name: string } }) => object.metadata.name)).toEqual(['kube-root-ca.crt', 'stays']);
  },
  120_000,
);
