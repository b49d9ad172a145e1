/** Lists in pieces: one consistent snapshot, whatever is written between the pieces. */

import { describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import fc from '../../packages/lib/src/testing/fast-check.testing.ts';
import type { Client, Loose } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const names = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name);
const versions = (list: Loose): string[] => list.items.map((item: Loose) => `${item.metadata.name}@${item.metadata.resourceVersion}`);

type Step =
  | { readonly do: 'page'; readonly limit: number }
  | { readonly do: 'put' | 'delete'; readonly name: string; readonly label: string };

const name = fc.integer({ min: 0, max: 11 }).map((n) => `s${String(n).padStart(2, '0')}`);
const write = fc.record({ do: fc.constantFrom('put' as const, 'put' as const, 'delete' as const), name, label: fc.constantFrom('x', 'y') });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: write },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 4 }) }) },
);

async function apply(admin: Client, path: string, { do: what, name, label }: Exclude<Step, { do: 'page' }>): Promise<void> {
  if (what === 'delete') await admin.delete(`${path}/${name}`);
  else {
    const object = { metadata: { name, labels: { label } }, stringData: { at: String(Math.random()) } };
    const { status } = await admin.put(`${path}/${name}`, object);
    if (status === 404) await admin.ok('POST', path, object);
  }
}

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  test('pieces, how many follow, and one version for all', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
    const { admin } = server();
    for (const letter of 'abcdefg')
      await admin.ok('POST', path, { metadata: { name: letter, labels: { vowel: String('ae'.includes(letter)) } } });
    const first = await admin.ok('GET', `${path}?limit=3`);
    expect(names(first)).toEqual(['a', 'b', 'c']);
    expect(first.metadata.remainingItemCount).toBe(4);
    await admin.ok('DELETE', `${path}/e`);
    await admin.ok('POST', path, { metadata: { name: 'cc' } });
    const second = await admin.ok('GET', `${path}?limit=3&continue=${first.metadata.continue}`);
    expect(names(second)).toEqual(['d', 'e', 'f']);
    expect(second.metadata).toMatchObject({ remainingItemCount: 1, resourceVersion: first.metadata.resourceVersion });
    const third = await admin.ok('GET', `${path}?limit=3&continue=${second.metadata.continue}`);
    expect(names(third)).toEqual(['g']);
    expect(third.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    const rest = await admin.ok('GET', `${path}?continue=${first.metadata.continue}`);
    expect(names(rest)).toEqual(['d', 'e', 'f', 'g']);
    const selected = await admin.ok('GET', `${path}?limit=1&labelSelector=vowel%3Dfalse`);
    expect(names(selected)).toEqual(['b']);
    expect(selected.metadata).not.toHaveProperty('remainingItemCount');
    const beyond = await admin.ok('GET', `${path}?limit=10&labelSelector=vowel%3Dfalse&continue=${selected.metadata.continue}`);
    expect(names(beyond)).toEqual(['c', 'd', 'f', 'g']);
  });

  test('pieces across namespaces', async () => {
    const { admin } = server();
    const label = `l${await server().namespace()}`;
    const spaces = [await server().namespace(), await server().namespace()];
    for (const space of spaces)
      for (const name of ['a', 'b'])
        await admin.ok('POST', `/api/v1/namespaces/${space}/secrets`, { metadata: { name, labels: { [label]: '' } } });
    const found: string[] = [];
    for (let token = ''; ; ) {
      const list = await admin.ok('GET', `/api/v1/secrets?limit=1&labelSelector=${label}&continue=${token}`);
      found.push(...list.items.map((item: Loose) => `${item.metadata.namespace}/${item.metadata.name}`));
      token = list.metadata.continue ?? '';
      if (token === '') break;
    }
    expect(found).toEqual(spaces.flatMap((space) => [`${space}/a`, `${space}/b`]));
  });

  test('tokens that are none', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
    const token = (value: unknown) => Buffer.from(jsonText(value)).toString('base64url');
    const bad = [
      '%20',
      'x',
      token(1),
      token({ v: 'v2', rv: 1, start: 'a' }),
      token({ v: 'v1', rv: 0, start: 'a' }),
      token({ v: 'v1', rv: 1 }),
    ];
    bad.push(token({ v: 'v1', rv: 5, start: '../other/a' }));
    for (const text of bad) {
      const answer = await server().admin.get(`${path}?limit=1&continue=${text}`);
      expect(answer.json, text).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: expect.stringContaining('continue key is not valid'),
      });
    }
    expect((await server().admin.get(`${path}?limit=x`)).status).toBe(400);
  });

  describe('random writes between the pieces', () => {
    test('show the state of the first piece', async () => {
      const { admin } = server();
      await fc.assert(
        fc.asyncProperty(
          fc.array(write, { maxLength: 12 }),
          fc.array(step, { minLength: 3, maxLength: 14 }),
          fc.boolean(),
          async (before, steps, select) => {
            const path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
            const query = select ? '&labelSelector=label%3Dx' : '';
            for (const one of before) await apply(admin, path, one);
            const expected = await admin.ok('GET', `${path}?${query}`);
            const first = await admin.ok('GET', `${path}?limit=2${query}`);
            const seen = versions(first);
            let token = first.metadata.continue;
            // The writes of a stretch run at once, together with the page after them.
            let pending: Promise<void>[] = [];
            for (const one of [...steps, { do: 'page', limit: 100 } as const]) {
              if (one.do !== 'page') {
                pending.push(apply(admin, path, one).catch(() => {}));
                continue;
              }
              if (token === undefined) break;
              const page = await admin.ok('GET', `${path}?limit=${one.limit}${query}&continue=${token}`);
              await Promise.all(pending);
              pending = [];
              expect(page.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
              expect(page.items.length).toBeLessThanOrEqual(one.limit);
              seen.push(...versions(page));
              token = page.metadata.continue;
            }
            await Promise.all(pending);
            expect(seen).toEqual(versions(expected));
            const exact = await admin.ok(
              'GET',
              `${path}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact${query}`,
            );
            expect(versions(exact)).toEqual(versions(expected));
          },
        ),
        { numRuns: 15 },
      );
    });
  });
});
