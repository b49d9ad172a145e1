/** The history of objects with two servers on one etcd. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Client, Loose } from '../support/server.ts';
import { onPeers } from '../support/stores.ts';

const named = (client: Client, name: string): Client => client.clone({ headers: { 'user-agent': `${name}/1.0` } });
const shown = (history: Loose): string[] => history.items.map((item: Loose) => `${item.type} ${item.name} by ${item.userAgent}`);

onPeers({ controllers: [] }, (one, two, etcd) => {
  async function compactFromOutside(): Promise<void> {
    const revision = await one().engine.currentRevision();
    const env = { ...process.env, ETCDCTL_API: '3' };
    execFileSync('etcdctl', ['--endpoints', etcd().endpoint, 'compact', String(revision)], { env, stdio: 'ignore' });
  }

  test('what each of them changed is in the history that both show, also after a compaction from outside', async () => {
    const namespace = await one().namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const [first, second] = [named(one().admin, 'first'), named(two().admin, 'second')];
    await first.ok('POST', path, { metadata: { name: 'a' }, data: { x: '1' } });
    const atTwo = await second.ok('GET', `${path}/a`);
    await second.ok('PUT', `${path}/a`, { ...atTwo, data: { x: '2' } });
    const before = await first.ok('GET', `${path}/a`);
    await first.ok('DELETE', `${path}/a`);
    await second.ok('POST', path, { metadata: { name: 'a' }, data: { x: '3' } });
    await compactFromOutside();
    for (const client of [one().admin, two().admin]) {
      const history = await client.ok('GET', `${path}/a?history=full`);
      expect(shown(history)).toEqual([
        'created a by second/1.0',
        'deleted a by first/1.0',
        'updated a by second/1.0',
        'created a by first/1.0',
      ]);
      expect(history.items[2].object).toMatchObject({ metadata: { uid: before.metadata.uid }, data: { x: '2' } });
      expect(history.items[2].patch).toEqual([{ op: 'replace', path: '/data/x', value: '2' }]);
      expect(shown(await client.ok('GET', `${path}?history=true&limit=2`)).slice(0, 2)).toEqual(shown(history).slice(0, 2));
      const exactly = `resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=Exact`;
      expect(await client.ok('GET', `${path}/a?${exactly}`)).toEqual(before);
      const { items } = await client.ok('GET', `${path}?${exactly}`);
      expect(items.map(({ metadata, data }: Loose) => [metadata.name, data])).toEqual([['a', { x: '2' }]]);
    }
  });

  test('values of secrets are in no row of history, and their names and writers are', async () => {
    const namespace = await one().namespace();
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    await one().admin.ok('POST', path, { metadata: { name: 'a' }, stringData: { word: 'first-value' } });
    expect((await two().admin.patch(`${path}/a`, { stringData: { word: 'second-value' } })).status).toBe(200);
    await compactFromOutside();
    const rows = execFileSync('etcdctl', ['--endpoints', etcd().endpoint, 'get', '--prefix', '/registry/plat+history/k/core/secrets/'], {
      env: { ...process.env, ETCDCTL_API: '3' },
      encoding: 'latin1',
    });
    expect(rows).toContain(`core/secrets/${namespace}/a`);
    for (const text of ['first-value', 'second-value']) {
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(Buffer.from(text).toString('base64'));
    }
    const history = await one().admin.ok('GET', `${path}/a?history=full`);
    expect(history.items.map(({ verb, object }: Loose) => [verb, object.data])).toEqual([
      ['patch', { word: '' }],
      ['create', { word: '' }],
    ]);
  });

  test('writes of one server while the other one lists history are never missing from it', async () => {
    const namespace = await one().namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const versions: string[] = [];
    for (let round = 0; round < 20; round++) {
      const [written] = await Promise.all([
        (round % 2 === 0 ? one() : two()).admin.ok('POST', path, { metadata: { name: `m${round}` } }),
        two().admin.ok('GET', `${path}?history=true`),
      ]);
      versions.unshift(written.metadata.resourceVersion);
      const history = await (round % 2 === 0 ? two() : one()).admin.ok('GET', `${path}?history=true`);
      expect(history.items.map(({ resourceVersion }: Loose) => resourceVersion)).toEqual(versions);
    }
  });
});
