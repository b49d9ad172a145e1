import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Api, RequestOptions } from './api.ts';
import { ApiError } from './api-error.ts';
import { Collection, MAX_ROWS } from './collection.ts';
import type { Kind } from './kinds.ts';
import { PAGE_SIZE } from './list-watch.ts';
import type { WatchConnection, WatchEvent, WatchRequest } from './watch-connection.ts';

const pods: Kind = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
  shortNames: [],
  verbs: ['list', 'watch'],
  subresources: [],
};
const rowFor = (name: string, cells: unknown[] = [name]) => ({ cells, object: { metadata: { name, namespace: 'a', uid: name } } });
const table = (resourceVersion: string, names: string[], more: object = {}) => ({
  metadata: { resourceVersion, ...more },
  columnDefinitions: [{ name: 'Name', type: 'string', priority: 0 }],
  rows: names.map((name) => rowFor(name)),
});

/** A server that gives these answers one after the other, and a collection of it. */
function started(answers: unknown[], options: { labelSelector?: string } = {}) {
  const clock = new FakeClock();
  const requests: { path: string; query: RequestOptions['query'] }[] = [];
  const watches: WatchRequest[] = [];
  const json = async (path: string, request: RequestOptions = {}) => {
    requests.push({ path, query: request.query });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const api = { json } as Api;
  const connection = { open: (request: WatchRequest) => watches.push(request) } as unknown as WatchConnection;
  const collection = new Collection({ api, watches: connection, clock, kind: pods, namespace: 'a', ...options });
  const settled = () => clock.advance(0);
  return { clock, requests, watches, collection, settled };
}
const names = ({ rows }: Collection): string[] => [...rows.values()].map(({ name }) => name);
const event = (type: WatchEvent['type'], name: string, cells?: unknown[]): WatchEvent => ({
  type,
  object: { rows: [rowFor(name, cells)] },
});

test('a list is read page by page, and then watched from its version', async () => {
  const { requests, watches, collection, settled } = started(
    [table('7', ['x', 'y'], { continue: 'more', remainingItemCount: 1 }), table('7', ['z'])],
    {
      labelSelector: 'app=web',
    },
  );
  await settled();
  expect(names(collection)).toEqual(['x', 'y', 'z']);
  expect(collection.phase.value).toBe('live');
  expect(requests.map(({ path, query }) => [path, query?.limit, query?.continue, query?.labelSelector])).toEqual([
    ['/api/v1/namespaces/a/pods', PAGE_SIZE, undefined, 'app=web'],
    ['/api/v1/namespaces/a/pods', PAGE_SIZE, 'more', 'app=web'],
  ]);
  expect(watches.map(({ path, resourceVersion, query }) => [path, resourceVersion, query?.labelSelector])).toEqual([
    ['/api/v1/namespaces/a/pods', '7', 'app=web'],
  ]);
});

test('events change rows', async () => {
  const { watches, collection, settled } = started([table('7', ['x', 'y'])]);
  await settled();
  const before = collection.changes.value;
  watches[0]?.onEvents([event('ADDED', 'z'), event('MODIFIED', 'x', ['x', 'changed']), event('DELETED', 'y'), event('BOOKMARK', 'none')]);
  expect(names(collection)).toEqual(['x', 'z']);
  expect(collection.rows.get('a/x')?.cells).toEqual(['x', 'changed']);
  expect(collection.changes.value).toBe(before + 1);
});

test('where history is gone it is listed anew, and the older rows stay until then', async () => {
  const { watches, collection, settled } = started([table('7', ['x', 'y']), table('9', ['y'])]);
  await settled();
  watches[0]?.onEnd(new ApiError({ code: 410 }));
  expect(names(collection)).toEqual(['x', 'y']);
  await settled();
  expect(names(collection)).toEqual(['y']);
  expect(watches[1]?.resourceVersion).toBe('9');
});

test('a server that cannot be reached is asked again; one that forbids is not', async () => {
  const { clock, requests, collection, settled } = started([
    new ApiError({}, 0),
    new ApiError({}, 503),
    new ApiError({ message: 'no' }, 403),
  ]);
  await settled();
  expect([collection.phase.value, collection.error.value?.code]).toEqual(['failed', 0]);
  await clock.advance(2000);
  expect(collection.error.value?.code).toBe(503);
  await clock.advance(4000);
  expect(collection.error.value?.message).toBe('no');
  await clock.advance(600_000);
  expect(requests.length).toBe(3);
});

test('more rows than a page can hold are neither asked for nor kept', async () => {
  const many = Array.from({ length: MAX_ROWS - 1 }, (_, i) => `pod-${i}`);
  const pages = [table('7', many, { continue: 'more' }), table('7', ['last'], { continue: 'even-more' })];
  const { requests, watches, collection, settled } = started(pages);
  await settled();
  expect([requests.length, collection.rows.size, collection.isTruncated.value, collection.phase.value]).toEqual([
    2,
    MAX_ROWS,
    true,
    'live',
  ]);
  watches[0]?.onEvents([event('ADDED', 'beyond'), event('MODIFIED', 'last', ['last', 'changed'])]);
  expect([collection.rows.size, collection.rows.has('a/beyond'), collection.rows.get('a/last')?.cells[1]]).toEqual([
    MAX_ROWS,
    false,
    'changed',
  ]);
});
