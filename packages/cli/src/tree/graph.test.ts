import type { ApiResource } from '@plat-dev/client/discovery';
import { notFound } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import type { Work } from '../work.ts';
import { growTree, MAX_DEPTH, MAX_LISTED, MAX_OBJECTS } from './graph.ts';
import type { TreeNode } from './node.ts';

const maps: ApiResource = {
  group: '',
  version: 'v1',
  name: 'configmaps',
  singularName: 'configmap',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: ['get', 'list'],
  shortNames: [],
  categories: [],
};
const root = { resource: maps, namespace: 'n', name: '0' };
const size = ({ dependents }: TreeNode): number => dependents.reduce((sum, node) => sum + size(node), 1);
const depth = ({ dependents }: TreeNode): number => 1 + Math.max(0, ...dependents.map(depth));

/** A server with config maps by number, of which each has an owner; it lists no more than 500 at a time. */
function server(count: number, ownerOf: (i: number) => number | undefined): Work {
  const item = (i: number) => {
    const owner = ownerOf(i);
    const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name: String(owner), uid: `uid-${owner}` }];
    return { metadata: { name: String(i), namespace: 'n', uid: `uid-${i}`, ownerReferences } };
  };
  const json = async ({ path }: { path: string }): Promise<unknown> => {
    const [, name, query = ''] = /^\/api\/v1\/namespaces\/n\/configmaps(?:\/(\d+))?(?:\?(.*))?$/.exec(path) ?? [];
    if (name !== undefined) {
      if (Number(name) >= count) throw notFound({ group: '', resource: 'configmaps' }, name);
      return item(Number(name));
    }
    const from = Number(new URLSearchParams(query).get('continue') ?? 0);
    const next = from + 500;
    const items = Array.from({ length: Math.min(500, count - from) }, (_, i) => item(from + i));
    return { metadata: next < count ? { continue: String(next) } : {}, items };
  };
  return {
    namespace: 'n',
    discovery: { groupVersions: async () => ['v1'], all: async () => [maps] },
    session: { transport: { json }, timeout: {} },
    signal: new AbortController().signal,
  } as unknown as Work;
}

test('a tree ends at a number of objects, and says so', async () => {
  const { root: whole, notes: none } = await growTree(
    server(MAX_OBJECTS, (i) => (i === 0 ? undefined : 0)),
    root,
    false,
  );
  expect([size(whole), none]).toEqual([MAX_OBJECTS, []]);
  const { root: node, notes } = await growTree(
    server(MAX_OBJECTS + 1, (i) => (i === 0 ? undefined : 0)),
    root,
    false,
  );
  expect([size(node), notes]).toEqual([MAX_OBJECTS, [`the tree ends at ${MAX_OBJECTS} objects`]]);
});

test('a tree ends at a depth, and says so', async () => {
  const chain = (length: number) => server(length, (i) => (i === 0 ? undefined : i - 1));
  const { root: whole, notes: none } = await growTree(chain(MAX_DEPTH), root, false);
  expect([depth(whole), none]).toEqual([MAX_DEPTH, []]);
  const { root: node, notes } = await growTree(chain(MAX_DEPTH + 5), root, false);
  expect([depth(node), notes]).toEqual([MAX_DEPTH + 1, [`dependents are followed ${MAX_DEPTH} times at most`]]);
});

test('of a large collection the beginning is looked through', async () => {
  const { root: node, notes } = await growTree(
    server(MAX_LISTED + 1, (i) => (i > MAX_LISTED - 2 ? 0 : undefined)),
    root,
    false,
  );
  expect(notes).toEqual([`only the first ${MAX_LISTED} configmaps were looked through`]);
  expect(node.dependents.map(({ name }) => name)).toEqual([String(MAX_LISTED - 1)]);
});

test('an owner that has gone meanwhile is not in the tree', async () => {
  const { root: node } = await growTree(
    server(1, () => 7),
    root,
    false,
  );
  expect(node.owners.map(({ name, note }) => [name, note])).toEqual([['7', 'not found']]);
});
