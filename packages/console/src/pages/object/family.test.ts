import { expect, test } from 'vitest';
import type { Kind } from '../../api/kinds.ts';
import { type Branch, countsOf, dependentsOf, ownersOf, type Relative } from './family.ts';

const kindNamed = (kind: string): Kind => ({
  group: '',
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  kind,
  isNamespaced: true,
  shortNames: [],
  verbs: ['list'],
  subresources: [],
});
const relative = (kind: string, uid: string, ...owners: string[]): Relative => ({
  kind: kindNamed(kind),
  metadata: {
    name: uid,
    uid,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'Any', name: owner, uid: owner })),
  },
});
const shape = (branches: readonly Branch[]): unknown => branches.map(({ object, branches: inner }) => [object.metadata.uid, shape(inner)]);

const objects = [
  relative('Deployment', 'web'),
  relative('ReplicaSet', 'web-1', 'web'),
  relative('Pod', 'web-1-b', 'web-1'),
  relative('Pod', 'web-1-a', 'web-1'),
  relative('Pod', 'other'),
];

test('dependents are found through those between', () => {
  expect(shape(dependentsOf('web', objects))).toEqual([
    [
      'web-1',
      [
        ['web-1-a', []],
        ['web-1-b', []],
      ],
    ],
  ]);
  expect([...countsOf(dependentsOf('web', objects))]).toEqual([
    ['Pod', 2],
    ['ReplicaSet', 1],
  ]);
});

test('owners are listed from the topmost', () => {
  expect(ownersOf(objects[2]!, objects).map(({ metadata }) => metadata.name)).toEqual(['web', 'web-1']);
  expect(ownersOf(objects[4]!, objects)).toEqual([]);
});

test('owners that form a circle end', () => {
  const circle = [relative('Pod', 'a', 'b'), relative('Pod', 'b', 'a')];
  expect(shape(dependentsOf('a', circle))).toEqual([['b', []]]);
  expect(ownersOf(circle[0]!, circle).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
});

test('an object with two owners stands once', () => {
  const shared = [relative('A', 'a', 'top'), relative('B', 'b', 'top'), relative('C', 'c', 'a', 'b')];
  expect(shape(dependentsOf('top', shared))).toEqual([
    ['a', [['c', []]]],
    ['b', []],
  ]);
});
