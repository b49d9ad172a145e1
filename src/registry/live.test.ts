import { expect, test } from 'vitest';
import { Collection } from '../storage/collection.ts';
import { storedValue } from '../storage/item.ts';
import type { Catalog } from './catalog.ts';
import { liveSource } from './live.ts';

const stored = (name: string, note: string): Buffer =>
  storedValue(JSON.stringify({ metadata: { name, namespace: 'team', uid: 'u', annotations: { note } } }), 'u');

function fixture() {
  const collection = new Collection({
    prefix: '/p/',
    facts: () => ({ labels: undefined, fields: undefined }),
    eventLimit: 10,
  });
  const catalog = { builtin: () => ({ collection, kind: { namespaced: true } }) } as unknown as Catalog;
  let revision = 1;
  return {
    live: liveSource(catalog)('', 'quotas'),
    put: (name: string, note: string, at = ++revision) => collection.apply(`team/${name}`, stored(name, note), at, at, undefined),
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

test('changes of one revision are told apart', () => {
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
