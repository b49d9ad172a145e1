import { Collection } from '@plat-dev/storage/collection';
import { storedValue } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Catalog } from './catalog.ts';
import { liveSource } from './live-views.ts';

const stored = (name: string, note: string): Buffer =>
  storedValue(JSON.stringify({ metadata: { name, namespace: 'team', uid: 'u', annotations: { note } } }), 'u');

function fixture(plural = 'resourcequotas') {
  const collection = new Collection({
    prefix: '/p/',
    facts: () => ({ labels: undefined, fields: undefined }),
    eventLimit: 10,
  });
  const catalog = {
    builtin: () => ({ collection, kind: { group: '', plural, namespaced: true } }),
  } as unknown as Catalog;
  let revision = 1;
  return {
    live: liveSource(catalog)('', plural),
    put: (name: string, note: string, at = ++revision) => collection.apply(`team/${name}`, stored(name, note), at, at, undefined),
    collection,
    remove: (name: string) => collection.apply(`team/${name}`, undefined, ++revision, 0, undefined),
  };
}
const noteOf = (object: { metadata: { annotations?: Record<string, string> } } | undefined) => object?.metadata.annotations?.note;

test('a look-up that is repeated sees every change', () => {
  const { live, put, remove } = fixture();
  expect([live.get('team', 'a'), live.list('team'), live.list()]).toEqual([undefined, [], []]);
  put('a', 'one');
  expect([noteOf(live.get('team', 'a')), live.list('team').map(noteOf)]).toEqual(['one', ['one']]);
  expect(live.get('team', 'a')).toBe(live.get('team', 'a'));
  expect(live.list('team')).toBe(live.list('team'));
  put('a', 'two');
  put('b', 'three');
  expect([noteOf(live.get('team', 'a')), noteOf(live.get('team', 'b')), live.list('team').map(noteOf)]).toEqual([
    'two',
    'three',
    ['two', 'three'],
  ]);
  remove('a');
  expect([live.get('team', 'a'), live.list('team').map(noteOf), live.list().map(noteOf)]).toEqual([undefined, ['three'], ['three']]);
  expect([live.get('other', 'b'), live.list('other')]).toEqual([undefined, []]);
});

test('changes of one revision differ', () => {
  const { live, put } = fixture();
  put('a', 'one', 7);
  const before = live.generation;
  expect(noteOf(live.get('team', 'a'))).toBe('one');
  put('a', 'two', 7);
  expect(noteOf(live.get('team', 'a'))).toBe('two');
  expect(live.generation).toBeGreaterThan(before);
});

test('what a view answers belongs to all who ask: changing it fails under test', () => {
  const { live, put } = fixture();
  put('a', 'one');
  const object = live.get('team', 'a') as { metadata: { annotations: Record<string, string> } };
  expect(() => {
    object.metadata.annotations.note = 'mine';
  }).toThrow(TypeError);
  expect(() => (live.list('team') as unknown[]).pop()).toThrow(TypeError);
});

test('an object that its writer has at hand is looked up without parsing, as of its revision', () => {
  const { live, collection } = fixture();
  expect(collection.keepsParsed).toBe(true);
  const seen: unknown[] = [];
  live.onChange(({ object, old }) => seen.push([noteOf(object), noteOf(old)]));
  const made = (note: string) => ({
    labels: undefined,
    fields: undefined,
    parsed: (revision: number) => ({ metadata: { resourceVersion: String(revision), annotations: { note: `${note} at hand` } } }),
  });
  collection.apply('team/a', stored('a', 'one'), 5, 5, made('one'));
  expect(live.get('team', 'a')?.metadata.resourceVersion).toBe('5');
  collection.apply('team/a', stored('a', 'two'), 6, 5, made('two'));
  expect(live.list().map(({ metadata }) => metadata.resourceVersion)).toEqual(['6']);
  // Another server wrote this.
  collection.apply('team/a', stored('a', 'three'), 7, 5, undefined);
  expect(seen).toEqual([
    ['one at hand', undefined],
    ['two at hand', 'one at hand'],
    ['three', 'two at hand'],
  ]);
});

test('a large object of a numerous kind is parsed in slices, once for all that look at it, and once for each of its versions', async () => {
  const { live, put } = fixture('pods');
  put('small', 'one');
  put('large', 'x'.repeat(20_000));
  expect(live.look('team', 'small')).toBeUndefined();
  expect(live.look('team', 'none')).toBeUndefined();
  const look = live.look('team', 'large');
  expect(look).toBeInstanceOf(Promise);
  expect(live.look('team', 'large')).toBe(look);
  await look;
  expect(live.look('team', 'large')).toBeUndefined();
  const object = live.get('team', 'large');
  expect(noteOf(object)).toHaveLength(20_000);
  expect(live.get('team', 'large')).toBe(object);
  put('large', 'y'.repeat(20_000));
  expect(live.look('team', 'large')).toBeInstanceOf(Promise);
  put('large', 'z'.repeat(20_000));
  const changed = live.get('team', 'large');
  expect(noteOf(changed)?.[0]).toBe('z');
  expect(live.get('team', 'large')).toBe(changed);
});
