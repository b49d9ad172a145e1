/** A disk that is really full: a small file system in memory, which only root may mount. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTestServer } from '../support/server.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const { place, mounted, grow, why } = mountSmallDisk('plat-full', 40);

test.skipIf(!mounted)(
  `writes are refused while the disk is full, and nothing that was answered is lost${why}`,
  async () => {
    const dataDir = join(place, 'data');
    mkdirSync(dataDir);
    const maps = '/api/v1/namespaces/default/configmaps';
    let server = await startTestServer({ store: 'lmdb', dataDir, identity: 'kubernetes' });
    onTestFinished(() => server.close());
    const kept = new Set<string>();
    const refused: { status: number; text: string; headers: Readonly<Record<string, string | string[] | undefined>> }[] = [];
    for (let i = 0; refused.length < 20 && i < 400; i++) {
      const name = `c${i}`;
      const answer = await server.admin.post(maps, { metadata: { name }, data: { a: 'x'.repeat(200_000) } });
      if (answer.status === 201) kept.add(name);
      else refused.push(answer);
    }
    expect(kept.size).toBeGreaterThan(10);
    for (const { status, text, headers } of refused) {
      expect(status).toBe(503);
      expect(text).toMatch(/disk of .* is full/);
      expect(headers['retry-after']).toBeDefined();
    }
    expect((await server.admin.get(`${maps}/c0`)).status).toBe(200);
    expect((await server.admin.get('/livez')).status).toBe(200);
    // A deletion is a write, too, but needs little room.
    if ((await server.admin.delete(`${maps}/c0`)).status === 200) kept.delete('c0');

    expect(grow(200)).toBe(true);
    server = await server.restart();
    let status = 0;
    for (let i = 0; status !== 201; i++) status = (await server.admin.post(maps, { metadata: { name: `after-${i}` } })).status;
    const { items } = await server.admin.ok('GET', maps);
    const there = new Set((items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name));
    expect([...kept].filter((name) => !there.has(name))).toEqual([]);
    expect((await server.admin.get('/readyz')).status).toBe(200);
  },
  120_000,
);
