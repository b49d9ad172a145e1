import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Api, RequestOptions } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Kind } from '../../api/kinds.ts';
import type { WatchConnection, WatchEvent, WatchRequest } from '../../api/watch-connection.ts';
import { LiveFamily, MOST_WATCHED } from './live-family.ts';

const kindNamed = (kind: string, more: Partial<Kind> = {}): Kind => ({
  group: 'example.com',
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  kind,
  isNamespaced: true,
  shortNames: [],
  verbs: ['list', 'watch'],
  subresources: [],
  ...more,
});
const object = (uid: string) => ({ metadata: { name: uid, uid, resourceVersion: '1', creationTimestamp: '' } });

function following(kinds: readonly Kind[], collections: Map<string, string[] | Error>) {
  const clock = new FakeClock();
  const watched: (WatchRequest & { isOpen: boolean })[] = [];
  const asked: (RequestOptions & { path: string })[] = [];
  const json = async (path: string, options: RequestOptions = {}) => {
    asked.push({ path, ...options });
    const names = collections.get(path.split('/').at(-1) as string);
    if (names instanceof Error) throw names;
    return { metadata: { resourceVersion: '5' }, items: (names ?? []).map(object) };
  };
  const open = (request: WatchRequest) => {
    const entry = { ...request, isOpen: true };
    watched.push(entry);
    return () => {
      entry.isOpen = false;
    };
  };
  const family = new LiveFamily({
    api: { json } as Api,
    watches: { open } as unknown as WatchConnection,
    clock,
    kinds,
    namespace: 'a',
  });
  const names = () => family.family.value?.objects.map(({ metadata }) => metadata.name);
  const change = (type: WatchEvent['type'], uid: string) => watched[0]!.onEvents([{ type, object: object(uid) }]);
  /** Answers arrive, and what follows from them is worked out. */
  const settled = async (millis = 0) => {
    await clock.advance(millis);
    await clock.advance(200);
  };
  return { settled, watched, asked, family, names, change };
}

test('objects that come and go are followed, by their metadata alone', async () => {
  const { settled, watched, asked, names, change, family } = following([kindNamed('Part')], new Map([['parts', ['one']]]));
  await settled();
  expect(names()).toEqual(['one']);
  change('ADDED', 'two');
  change('DELETED', 'one');
  await settled();
  expect(names()).toEqual(['two']);
  expect([asked[0]?.accept, watched[0]?.accept].map((accept) => /as=(\w+)/.exec(accept ?? '')?.[1])).toEqual([
    'PartialObjectMetadataList',
    'PartialObjectMetadata',
  ]);
  family.close();
  expect(watched.map(({ isOpen }) => isOpen)).toEqual([false]);
});

test('kinds beyond the bound of watches are read again and again', async () => {
  const kinds = Array.from({ length: MOST_WATCHED + 1 }, (_, i) => kindNamed(`Kind${i}`));
  const collections = new Map([[`kind${MOST_WATCHED}s`, ['late']]]);
  const { settled, watched, names, family } = following(kinds, collections);
  await settled();
  expect(watched.length).toBe(MOST_WATCHED);
  expect(names()).toEqual(['late']);
  collections.set(`kind${MOST_WATCHED}s`, ['late', 'later']);
  await settled(31_000);
  expect(names()).toEqual(['late', 'later']);
  family.close();
});

test('kinds that may not be listed are named', async () => {
  const collections = new Map<string, string[] | Error>([['secrets', new ApiError({}, 403)]]);
  const { settled, family, names } = following([kindNamed('Secret'), kindNamed('Part')], collections);
  await settled();
  expect(names()).toEqual([]);
  expect(family.family.value?.unread).toEqual(['Secret']);
});
