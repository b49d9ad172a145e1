/** Backups of a running server, and servers that begin with one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { inChunks } from '../../packages/storage/src/backup/backup.testing.ts';
import { readBackup, verifyBackup } from '../../packages/storage/src/backup/read.ts';
import { SKIPPED_REVISIONS_ETCD } from '../../packages/storage/src/backup/restore.ts';
import type { Engine } from '../../packages/storage/src/engine.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer(options);
  cleanups.push(() => server.close());
  return server;
}
async function backupFile(server: TestServer): Promise<string> {
  const answer = await server.admin.get('/store/backup');
  expect(answer.status).toBe(200);
  const path = join(temporaryDirectory('plat-backup'), 'a.backup');
  writeFileSync(path, answer.bytes);
  return path;
}

/** Etcd counts up by one write for each revision. Fewer than are skipped otherwise show as much. */
const skippingFewer = (engine: Engine): Engine => {
  const skip = engine.skipTo.bind(engine);
  engine.skipTo = async (revision) => skip(Math.max(revision - SKIPPED_REVISIONS_ETCD + 100, (await engine.currentRevision()) + 1));
  return engine;
};

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  test('a backup under writes is one moment: of pairs that are written one after the other, no second is there without its first', async () => {
    const ns = await server().namespace();
    let stop = false;
    let written = 0;
    const writer = (async () => {
      for (; !stop; written++) {
        for (const half of ['a', 'z']) {
          await server().admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, {
            metadata: { name: `${half}-${written}` },
            data: { x: 'y'.repeat(2_000) },
          });
        }
      }
    })();
    while (written < 20) await new Promise(setImmediate);
    const { status, bytes } = await server().admin.get('/store/backup');
    const during = written;
    stop = true;
    await writer;
    expect(status).toBe(200);
    const { header } = await verifyBackup(inChunks(bytes));
    expect(header).toMatchObject({ identity: 'plat', engine: server().engine.name });
    const names = new Set<string>();
    for await (const part of readBackup(inChunks(bytes, 65_536))) {
      if (part.type === 'entries')
        for (const { key } of part.entries) if (key.startsWith(`core/configmaps/${ns}/`)) names.add(key.slice(key.lastIndexOf('/') + 1));
    }
    expect(names.size).toBeGreaterThan(20);
    expect(during).toBeGreaterThan(0);
    for (const name of names) if (name.startsWith('z-')) expect(names.has(`a-${name.slice(2)}`)).toBe(true);
    const newest = Math.max(...[...names].filter((name) => name.startsWith('a-')).map((name) => Number(name.slice(2))));
    for (let index = 0; index < newest; index++) expect(names.has(`z-${index}`)).toBe(true);
  });

  test('only who has the right to the path may read it: neither viewers, editors nor administrators of namespaces', async () => {
    const { admin, alice, bob, anonymous } = server();
    const group = 'rbac.authorization.plat.dev';
    const bind = (role: string, user: string) =>
      admin.ok('POST', `/apis/${group}/v1/clusterrolebindings`, {
        metadata: { name: `${user}-${role}` },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: group, kind: 'User', name: user }],
      });
    for (const role of ['view', 'edit', 'admin']) await bind(role, 'alice');
    await admin.ok('POST', `/apis/${group}/v1/clusterroles`, {
      metadata: { name: 'all-resources' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
    await bind('all-resources', 'alice');
    expect((await alice.get('/store/backup')).status).toBe(403);
    expect((await bob.get('/store/backup')).status).toBe(403);
    expect((await anonymous.get('/store/backup')).status).toBe(403);
    await admin.ok('POST', `/apis/${group}/v1/clusterroles`, {
      metadata: { name: 'backup' },
      rules: [{ nonResourceURLs: ['/store/backup'], verbs: ['get'] }],
    });
    await bind('backup', 'bob');
    let status = 403;
    while (status === 403) ({ status } = await bob.get('/store/backup'));
    expect(status).toBe(200);
    expect((await bob.post('/store/backup', {})).status).toBe(403);
    expect((await admin.post('/store/backup', {})).status).toBe(405);
  });
});

describe('a server that begins with a backup', () => {
  // The identity stands in the file, the store does not: each of both is tried once.
  for (const [identity, store] of [
    ['plat', 'memory'],
    ['plat', 'lmdb'],
    ['kubernetes', 'etcd'],
  ] as const) {
    const reason = store === 'etcd' ? etcdMissing : undefined;
    test.skipIf(reason !== undefined)(
      `${identity} on ${store}: objects are there, revisions have grown, old watches must list again${reason === undefined ? '' : ` (skipped: ${reason})`}`,
      async () => {
        const source = await start({ store: 'lmdb', identity });
        const ns = await source.namespace();
        const path = `/api/v1/namespaces/${ns}/configmaps`;
        const before: Loose = await source.admin.ok('POST', path, { metadata: { name: 'a' }, data: { k: 'v' } });
        const file = await backupFile(source);
        const later: Loose = await source.admin.ok('POST', path, { metadata: { name: 'later' } });
        const etcd = store === 'etcd' ? await startEtcd() : undefined;
        if (etcd !== undefined) cleanups.push(() => etcd.stop());
        const inEtcd = etcd !== undefined && { etcdServers: [etcd.endpoint], wrapEngine: skippingFewer };
        const target = await start({ store, identity, restoreFrom: file, ...inEtcd });
        const after: Loose = await target.admin.ok('GET', `${path}/a`);
        expect(after.data).toEqual({ k: 'v' });
        expect(after.metadata.uid).toBe(before.metadata.uid);
        expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(later.metadata.resourceVersion));
        expect((await target.admin.get(`${path}/later`)).status).toBe(404);
        const watch = await target.admin
          .watch(`${path}?watch=1&resourceVersion=${later.metadata.resourceVersion}`)
          .catch((error: Error) => error);
        if (watch instanceof Error) expect(watch.message).toContain('410');
        else expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
        const stale = await target.admin.put(`${path}/a`, before);
        expect([stale.status, stale.json.reason]).toEqual([409, 'Conflict']);
        expect(target.errors).toEqual([]);
        if (kubectlMissing === undefined && identity === 'kubernetes') {
          const kubectl = kubectlFor(target);
          expect(await kubectl.json(['get', 'configmap', 'a', '-n', ns])).toMatchObject({ data: { k: 'v' } });
          await kubectl.ok(['create', 'configmap', 'more', '-n', ns, '--from-literal=a=b']);
        }
      },
    );
  }

  test('is refused where the store is not empty, the identity is another, or the file is cut', async () => {
    const source = await start({ store: 'lmdb' });
    const file = await backupFile(source);
    const other = await start({ store: 'lmdb' });
    const { dataDir } = other;
    await other.running.close();
    await expect(startTestServer({ store: 'lmdb', dataDir, restoreFrom: file })).rejects.toThrow(/has a store/);
    await expect(startTestServer({ store: 'lmdb', identity: 'kubernetes', restoreFrom: file })).rejects.toThrow(
      /identity plat.*plat store export.*plat store import/,
    );
    await expect(startTestServer({ store: 'memory', identity: 'kubernetes', restoreFrom: file })).rejects.toThrow(/plat store export/);
    const { bytes } = await source.admin.get('/store/backup');
    writeFileSync(file, bytes.subarray(0, bytes.length - 3));
    const empty = temporaryDirectory('plat-server');
    await expect(startTestServer({ store: 'lmdb', dataDir: empty, restoreFrom: file })).rejects.toThrow(/cut short/);
    const fresh = await start({ store: 'lmdb', dataDir: empty });
    expect((await fresh.admin.get('/api/v1/namespaces/default')).status).toBe(200);
    cleanups.pop();
    await fresh.close();
    cleanups.length = 1;
  });
});
