/** Every cell of the tables of resourceVersion semantics, as the specification prints them. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FRESH_WAIT_MS } from '../../packages/server/src/registry/list.ts';
import type { Answer, Loose } from '../support/server.ts';
import { summary } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';
import { onStores } from '../support/stores.ts';

const names = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name);

/** Waits that are short now: that for a version which never comes, in the tests of such. */
const short: number[] = [];
afterEach(() => {
  short.length = 0;
});

onStores(['memory', 'lmdb', 'etcd'], { clock: shortWaits({ after: short }) }, (server) => {
  /**
   * The history that every cell is held against:
   *   first   a, b, c exist
   *   second  b was deleted, d was created
   */
  let path: string;
  let first: string;
  let second: string;
  const before = ['a', 'b', 'c'];
  const after = ['a', 'c', 'd'];
  beforeAll(async () => {
    path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
    const { admin } = server();
    for (const name of before) await admin.ok('POST', path, { metadata: { name } });
    first = (await admin.ok('GET', path)).metadata.resourceVersion;
    await admin.ok('DELETE', `${path}/b`);
    await admin.ok('POST', path, { metadata: { name: 'd' } });
    second = (await admin.ok('GET', path)).metadata.resourceVersion;
  });
  /** A version that nothing will reach during this test. */
  const future = (): string => String(Number(second) + 1_000_000);
  const list = (query: string): Promise<Answer> => server().admin.get(`${path}?${query}`);

  describe('get', () => {
    test.each([
      ['unset', () => ''],
      ['0', () => '0'],
      ['an older version', () => first],
    ])('%s: the newest state', async (_, version) => {
      const { json } = await server().admin.get(`${path}/d?resourceVersion=${version()}`);
      expect(json.metadata.name).toBe('d');
      expect((await server().admin.get(`${path}/b?resourceVersion=${version()}`)).status).toBe(404);
    });
    test('a version that comes while the request waits', async () => {
      // Other collections count too: one revision numbers all commits.
      const at = Number(await server().engine.currentRevision());
      const waiting = server().admin.get(`${path}/d?resourceVersion=${at + 1}`);
      await server().admin.ok('POST', path, { metadata: { generateName: 'later-', labels: { later: '' } } });
      expect((await waiting).status).toBe(200);
      await server().admin.ok('DELETE', `${path}?labelSelector=later`);
    });
    test('not a version', async () => {
      expect((await server().admin.get(`${path}/d?resourceVersion=x`)).json.message).toContain('Invalid value: "x"');
    });
  });

  test('a version that is not there yet: 504 after a bounded wait, come back later', async () => {
    short.push(FRESH_WAIT_MS);
    const [got, listed, notOlder, limited] = await Promise.all([
      server().admin.get(`${path}/d?resourceVersion=${future()}`),
      list(`resourceVersion=${future()}`),
      list(`resourceVersion=${future()}&resourceVersionMatch=NotOlderThan`),
      list(`resourceVersion=${future()}&resourceVersionMatch=NotOlderThan&limit=2`),
    ]);
    for (const answer of [got, listed, notOlder]) {
      expect(answer.status).toBe(504);
      expect(answer.json).toMatchObject({ reason: 'Timeout', message: expect.stringContaining('Too large resource version') });
      expect(answer.json.details.retryAfterSeconds).toBe(1);
      expect(answer.headers['retry-after']).toBe('1');
    }
    // As recorded: what a stock server asks its store for is refused at once and without advice.
    expect(limited.status).toBe(504);
    expect(limited.json.message).toContain('Too large resource version');
  });

  test('finding 9: an exact version that is still to come is 504 for lists, pages and deletions of collections', async () => {
    for (const query of ['resourceVersionMatch=Exact', 'limit=2', 'limit=2&resourceVersionMatch=Exact'])
      for (const method of ['GET', 'DELETE']) {
        const answer = await server().admin.send(method, `${path}?resourceVersion=${future()}&${query}`);
        expect(answer.json, `${method} ${query}`).toMatchObject({
          code: 504,
          reason: 'Timeout',
          message: expect.stringContaining('Too large resource version'),
          details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
        });
      }
    expect(names((await list('')).json)).toEqual(after);
  });

  test('finding 10: a watch from a version that is not reached is 504, with bookmarks or without', async () => {
    short.push(FRESH_WAIT_MS);
    const answers = await Promise.all(
      ['', '&allowWatchBookmarks=true'].map((more) => list(`watch=1&timeoutSeconds=1&resourceVersion=${future()}${more}`)),
    );
    for (const answer of answers) expect(answer.json).toMatchObject({ code: 504, reason: 'Timeout', details: { retryAfterSeconds: 1 } });
  });

  test('finding 10: a watch waits for a version that comes, and sends what follows it', async () => {
    const at = Number(await server().engine.currentRevision());
    const opening = server().admin.watch(`${path}?watch=1&resourceVersion=${at + 1}`);
    await server().admin.ok('POST', path, { metadata: { name: 'w1', labels: { later: '' } } });
    const watch = await opening;
    await server().admin.ok('POST', path, { metadata: { name: 'w2', labels: { later: '' } } });
    // Whether the first one follows the version depends on what else was written meanwhile; the second does.
    await watch.until(({ type, object }) => type === 'ADDED' && object.metadata.name === 'w2');
    watch.close();
    await server().admin.ok('DELETE', `${path}?labelSelector=later`);
  });

  test('numbers that no version can be are refused, also by watches', async () => {
    for (const query of ['', '&watch=1', '&limit=1'])
      expect((await list(`resourceVersion=18446744073709551616${query}`)).json).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  describe('list', () => {
    /** What a cell of the table answers. */
    type Cell = 'newest' | 'newest, limited' | 'exact' | 'exact, limited' | 'invalid' | 'continued' | 'bad request';
    const versions = { unset: () => '', zero: () => '0', other: () => first };
    const rows: { match: string; limit: number; continued?: boolean; cells: [Cell, Cell, Cell] }[] = [
      { match: '', limit: 0, cells: ['newest', 'newest', 'newest'] },
      { match: '', limit: 2, cells: ['newest, limited', 'newest', 'exact, limited'] },
      { match: '', limit: 2, continued: true, cells: ['continued', 'continued', 'bad request'] },
      { match: 'Exact', limit: 0, cells: ['invalid', 'invalid', 'exact'] },
      { match: 'Exact', limit: 2, cells: ['invalid', 'invalid', 'exact, limited'] },
      { match: 'NotOlderThan', limit: 0, cells: ['invalid', 'newest', 'newest'] },
      { match: 'NotOlderThan', limit: 2, cells: ['invalid', 'newest', 'newest, limited'] },
    ];
    const cells = rows.flatMap(({ match, limit, continued = false, cells }) =>
      (Object.keys(versions) as (keyof typeof versions)[]).map((version, i) => ({
        match,
        limit,
        continued,
        version,
        cell: cells[i] as Cell,
      })),
    );

    test.each(cells)('match "$match", limit $limit, continued $continued, version $version: $cell', async (asked) => {
      const query = new URLSearchParams();
      const version = versions[asked.version]();
      if (version !== '') query.set('resourceVersion', version);
      if (asked.match !== '') query.set('resourceVersionMatch', asked.match);
      if (asked.limit > 0) query.set('limit', String(asked.limit));
      if (asked.continued) query.set('continue', (await list(`limit=2&resourceVersion=${first}`)).json.metadata.continue);
      const { status, json } = await list(query.toString());
      if (asked.cell === 'invalid') {
        expect(status).toBe(422);
        expect(json).toMatchObject({
          reason: 'Invalid',
          details: { causes: [{ field: 'resourceVersionMatch', reason: 'FieldValueForbidden' }] },
        });
        return;
      }
      if (asked.cell === 'bad request') {
        expect(json).toMatchObject({ code: 400, message: 'specifying resource version is not allowed when using continue' });
        return;
      }
      expect(status).toBe(200);
      const { metadata } = json;
      if (asked.cell === 'continued') {
        expect(names(json)).toEqual(before.slice(2));
        expect(metadata).toEqual({ resourceVersion: first });
        return;
      }
      const exact = asked.cell.startsWith('exact');
      const limited = asked.cell.endsWith('limited');
      expect(names(json)).toEqual((exact ? before : after).slice(0, limited ? 2 : 3));
      if (exact) expect(metadata.resourceVersion).toBe(first);
      else expect(Number(metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(second));
      expect(metadata.remainingItemCount).toBe(limited ? 1 : undefined);
      expect(typeof metadata.continue).toBe(limited ? 'string' : 'undefined');
    });

    test('a match that is not one, and one beside a continue token', async () => {
      expect((await list(`resourceVersion=${first}&resourceVersionMatch=About`)).json.details.causes).toMatchObject([
        { reason: 'FieldValueNotSupported', field: 'resourceVersionMatch' },
      ]);
      const token = (await list('limit=2')).json.metadata.continue;
      expect((await list(`resourceVersion=${first}&resourceVersionMatch=Exact&limit=2&continue=${token}`)).status).toBe(422);
    });
  });

  describe('watch', () => {
    test.each(['', '0'])('from "%s": existing objects first, then changes', async (version) => {
      const watch = await server().admin.watch(`${path}?watch=1&resourceVersion=${version}`);
      expect((await watch.take(3)).map(summary)).toEqual(after.map((name) => `ADDED ${name}`));
      await server().admin.ok('POST', path, { metadata: { name: 'w' } });
      expect(summary(await watch.next())).toBe('ADDED w');
      await server().admin.ok('DELETE', `${path}/w`);
      expect(summary(await watch.next())).toBe('DELETED w');
      watch.close();
    });
    test('from a version: what came after it, and no more', async () => {
      const watch = await server().admin.watch(`${path}?watch=1&resourceVersion=${first}&fieldSelector=metadata.name!=w`);
      expect((await watch.take(2)).map(summary)).toEqual(['DELETED b', 'ADDED d']);
      await server().admin.ok('POST', path, { metadata: { name: 'v' } });
      expect(summary((await watch.until((event) => event.object.metadata.name === 'v'))[0] as never)).not.toContain('ADDED a');
      await server().admin.ok('DELETE', `${path}/v`);
      watch.close();
    });
    test('resourceVersionMatch is not for watches', async () => {
      const answer = await server().admin.get(`${path}?watch=1&resourceVersion=${first}&resourceVersionMatch=NotOlderThan`);
      expect(answer.json).toMatchObject({ code: 422, details: { causes: [{ message: expect.stringContaining('forbidden for watch') }] } });
    });
  });
});
