/** Several servers on one etcd, each as good as the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Loose, summary, type TestServer } from '../support/server.ts';
import { onPeers } from '../support/stores.ts';

onPeers({}, (one, two, etcd) => {
  const path = async () => `/api/v1/namespaces/${await one().namespace()}/secrets`;

  test('what one wrote, the other reads at once', async () => {
    const secrets = await path();
    for (let n = 0; n < 20; n++) {
      const [writer, reader] = n % 2 === 0 ? [one(), two()] : [two(), one()];
      const made = await writer.admin.ok('POST', secrets, { metadata: { name: `s${n}` } });
      expect(await reader.admin.ok('GET', `${secrets}/s${n}`)).toEqual(made);
      expect((await reader.admin.ok('GET', secrets)).items.length).toBe(n + 1);
    }
  });

  test('a watch of one sees the writes of both, and goes on with the other', async () => {
    const secrets = await path();
    const watch = await two().admin.watch(`${secrets}?watch=1`);
    await one().admin.ok('POST', secrets, { metadata: { name: 'a' } });
    await two().admin.ok('POST', secrets, { metadata: { name: 'b' } });
    const [, last] = await watch.take(2);
    watch.close();
    await two().admin.ok('DELETE', `${secrets}/a`);
    const again = await one().admin.watch(`${secrets}?watch=1&resourceVersion=${last?.object.metadata.resourceVersion}`);
    expect(summary(await again.next())).toBe('DELETED a');
    again.close();
  });

  test('versions and tokens of one are good for the other', async () => {
    const secrets = await path();
    for (const name of ['a', 'b', 'c']) await one().admin.ok('POST', secrets, { metadata: { name } });
    const first = await one().admin.ok('GET', `${secrets}?limit=2`);
    await one().admin.ok('DELETE', `${secrets}/c`);
    const rest = await two().admin.ok('GET', `${secrets}?limit=2&continue=${first.metadata.continue}`);
    expect(rest.items.map((item: Loose) => item.metadata.name)).toEqual(['c']);
    const old = await two().admin.ok('GET', `${secrets}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`);
    expect(old.items.length).toBe(3);
  });

  test('writers on both lose nothing', async () => {
    const secrets = await path();
    await one().admin.ok('POST', secrets, { metadata: { name: 'counter', annotations: { n: '0' } } });
    const add = async (server: TestServer): Promise<void> => {
      for (let left = 5; left > 0; ) {
        const object = await server.admin.ok('GET', `${secrets}/counter`);
        object.metadata.annotations.n = String(Number(object.metadata.annotations.n) + 1);
        const { status } = await server.admin.put(`${secrets}/counter`, object);
        expect([200, 409]).toContain(status);
        if (status === 200) left--;
      }
    };
    await Promise.all([add(one()), add(two()), add(one()), add(two())]);
    expect((await two().admin.ok('GET', `${secrets}/counter`)).metadata.annotations.n).toBe('20');
    const both = await Promise.all([one(), two()].map((server) => server.admin.post(secrets, { metadata: { name: 'same' } })));
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });

  test('etcd goes and comes back; a watch that stayed open misses nothing', async () => {
    const secrets = await path();
    const watch = await two().admin.watch(`${secrets}?watch=1`);
    await one().admin.ok('POST', secrets, { metadata: { name: 'before' } });
    await watch.next();
    await etcd().kill();
    const refused = await one().admin.send('POST', `${secrets}?timeout=3s`, { body: { metadata: { name: 'meanwhile' } } });
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(refused.json.kind).toBe('Status');
    await etcd().start();
    let made = await one().admin.post(secrets, { metadata: { name: 'after' } });
    for (const until = Date.now() + 90_000; made.status >= 500 && Date.now() < until; )
      made = await one().admin.post(secrets, { metadata: { name: 'after' } });
    expect(made.status).toBe(201);
    const seen = await watch.until((event) => event.object.metadata.name === 'after');
    expect(seen.every((event) => event.type === 'ADDED')).toBe(true);
    watch.close();
  });

  test('servers behind them trust both', async () => {
    const path = '/api/v1/namespaces/plat-system/configmaps/extension-apiserver-authentication';
    const { data } = await one().admin.ok('GET', path);
    for (const server of [one(), two()]) {
      for (const [key, file] of [
        ['client-ca-file', 'ca'],
        ['requestheader-client-ca-file', 'front-proxy-ca'],
      ] as const)
        expect(data[key], file).toContain(readFileSync(join(server.dataDir, 'pki', `${file}.crt`), 'utf8').trim());
    }
  });
});
