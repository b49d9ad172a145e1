/** Whatever a controller was in the middle of when its process died is finished by the next one. */
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programMissing } from '../support/program.ts';
import { startTestServer } from '../support/server.ts';
import { countOf, many, startServerChild, until } from './support.ts';

/** Of each: so many that the first process is killed in the midst of them, a few dozen of which are gone by then. */
const COUNT = 150;
const maps = '/api/v1/namespaces/busy/configmaps';
const owned = '/api/v1/namespaces/owned/configmaps';
const options = { store: 'lmdb', identity: 'kubernetes' } as const;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const because = programMissing === undefined ? '' : ` (skipped: ${programMissing})`;

test.skipIf(programMissing !== undefined)(
  `the deletion of a namespace and a cascade of the collector go on after a crash in their middle${because}`,
  async () => {
    const dataDir = temporaryDirectory('plat-controllers');
    const first = await startServerChild(dataDir, options);
    cleanups.push(() => first.kill());
    for (const name of ['busy', 'owned']) await first.admin.ok('POST', '/api/v1/namespaces', { metadata: { name } });
    const owner = await first.admin.ok('POST', owned, { metadata: { name: 'owner' } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true }];
    await first.admin.ok('POST', owned, { metadata: { name: 'stays' } });
    await many(COUNT, (i) => first.admin.ok('POST', maps, { metadata: { name: `m${i}` } }));
    await many(COUNT, (i) => first.admin.ok('POST', owned, { metadata: { name: `m${i}`, ownerReferences } }));
    const before = await countOf(first.admin, owned);
    await Promise.all([
      first.admin.ok('DELETE', '/api/v1/namespaces/busy'),
      first.admin.ok('DELETE', `${owned}/owner?propagationPolicy=Foreground`),
    ]);
    await until('some of both are gone', async () => {
      const [inNamespace, ofOwner] = await Promise.all([countOf(first.admin, maps), countOf(first.admin, owned)]);
      return inNamespace < COUNT && ofOwner < before;
    });
    await first.kill();

    // This one is not killed: it needs no process of its own.
    const second = await startTestServer({ ...options, dataDir });
    cleanups.push(() => second.close());
    await until('the namespace is gone', async () => (await second.admin.get('/api/v1/namespaces/busy')).status === 404);
    expect(await countOf(second.admin, maps)).toBe(0);
    await until('the owner is gone', async () => (await second.admin.get(`${owned}/owner`)).status === 404);
    const left = await second.admin.ok('GET', owned);
    expect(left.items.map((object: { metadata: { name: string } }) => object.metadata.name)).toEqual(['kube-root-ca.crt', 'stays']);
  },
  120_000,
);
