import { schemaOfKind } from '@plat-dev/cli/discovery/kind-schemas';
import { atOnce } from '@plat-dev/lib/slices';
import type { MessageType } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { mergedValue } from './merge-patch.ts';
import { readStrategicPatch } from './strategic.ts';
import type { JsonMap } from './strategic-lists.ts';
import { PatchConflict, threeWayPatch, twoWayPatch } from './three-way.ts';

const deployment = schemaOfKind('apps/v1', 'Deployment') as MessageType;

/** A three-way merge, and the object that its patch makes on a server. */
function applied(lastApplied: JsonMap | undefined, now: JsonMap, current: JsonMap) {
  const patch = threeWayPatch({ type: deployment, lastApplied, applied: now, current, overwrite: true });
  return { patch, result: readStrategicPatch(deployment, { value: patch })(current) };
}
/** The same for a kind without a schema. */
function appliedAsJson(lastApplied: JsonMap | undefined, now: JsonMap, current: JsonMap) {
  const patch = threeWayPatch({ type: undefined, lastApplied, applied: now, current, overwrite: true });
  return { patch, result: atOnce(mergedValue(current, patch)) };
}
const pod = (containers: JsonMap[], more: JsonMap = {}): JsonMap => ({ spec: { template: { spec: { containers, ...more } } } });

describe('three-way strategic merge', () => {
  test('fields are added, changed, and removed only if they were applied', () => {
    const { patch, result } = applied(
      { spec: { replicas: 2, paused: true } },
      { spec: { minReadySeconds: 3 } },
      { spec: { replicas: 5, paused: true, progressDeadlineSeconds: 9 } },
    );
    expect(patch).toEqual({ spec: { minReadySeconds: 3, paused: null, replicas: null } });
    expect(result).toEqual({ spec: { minReadySeconds: 3, progressDeadlineSeconds: 9 } });
  });

  test('nothing to do is an empty patch, whatever the server added', () => {
    const now = pod([{ name: 'a', image: 'x' }]);
    const current = pod([{ name: 'a', image: 'x', imagePullPolicy: 'Always' }], { restartPolicy: 'Always' });
    expect(applied(now, now, current).patch).toEqual({});
  });

  test('items of a list are merged by their key, in the order of the file; those of others stay', () => {
    const { patch, result } = applied(
      pod([
        { name: 'a', image: '1' },
        { name: 'gone', image: '1' },
      ]),
      pod([
        { name: 'new', image: '1' },
        { name: 'a', image: '2' },
      ]),
      pod([
        { name: 'a', image: '1', tty: true },
        { name: 'gone', image: '1' },
        { name: 'injected', image: '9' },
      ]),
    );
    expect(patch).toEqual({
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'new' }, { name: 'a' }],
            containers: [
              { name: 'new', image: '1' },
              { name: 'a', image: '2' },
              { $patch: 'delete', name: 'gone' },
            ],
          },
        },
      },
    });
    expect(result).toEqual(
      pod([
        { name: 'injected', image: '9' },
        { name: 'new', image: '1' },
        { name: 'a', image: '2', tty: true },
      ]),
    );
  });

  test('a field is removed within an item that changes otherwise, too', () => {
    const { patch, result } = applied(
      pod([{ name: 'a', image: '1', workingDir: '/x' }]),
      pod([{ name: 'a', image: '2' }]),
      pod([{ name: 'a', image: '1', workingDir: '/x', tty: true }]),
    );
    expect(patch).toMatchObject({ spec: { template: { spec: { containers: [{ name: 'a', image: '2', workingDir: null }] } } } });
    expect(result).toEqual(pod([{ name: 'a', image: '2', tty: true }]));
  });

  test('a list without a key is replaced as a whole', () => {
    const command = (...words: string[]) => pod([{ name: 'a', command: words }]);
    expect(applied(command('a', 'b'), command('a'), command('a', 'b')).result).toEqual(command('a'));
    expect(applied(command('a'), command('a'), command('a')).patch).toEqual({});
  });

  test('values of a set are added and removed', () => {
    const finalizers = (...names: string[]): JsonMap => ({ metadata: { finalizers: names } });
    const { patch, result } = applied(finalizers('a', 'b'), finalizers('b', 'c'), finalizers('a', 'b', 'other'));
    expect(patch).toEqual({
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['b', 'c'],
        finalizers: ['c'],
      },
    });
    expect(new Set((result as { metadata: { finalizers: string[] } }).metadata.finalizers)).toEqual(new Set(['b', 'c', 'other']));
  });

  test('a field of which one form excludes the others: the other form goes', () => {
    const strategy = (value: JsonMap): JsonMap => ({ spec: { strategy: value } });
    const { patch, result } = applied(
      undefined,
      strategy({ type: 'Recreate' }),
      strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }),
    );
    expect(patch).toEqual(strategy({ $retainKeys: ['type'], type: 'Recreate' }));
    expect(result).toEqual(strategy({ type: 'Recreate' }));
  });

  test('without overwrite, what another client changed is a conflict', () => {
    const three = (current: number, now: number) => () =>
      threeWayPatch({
        type: deployment,
        lastApplied: { spec: { replicas: 1 } },
        applied: { spec: { replicas: now } },
        current: { spec: { replicas: current } },
        overwrite: false,
      });
    expect(three(5, 2)).toThrow(PatchConflict);
    expect(three(5, 2)).toThrow('spec.replicas');
    expect(three(1, 2)()).toEqual({ spec: { replicas: 2 } });
    expect(three(2, 2)()).toEqual({});
  });
});

describe('three-way JSON merge', () => {
  test('lists are replaced, fields of others stay', () => {
    const { patch, result } = appliedAsJson(
      { spec: { a: 1, list: [1] } },
      { spec: { list: [{ x: 2 }], b: { c: 1 } } },
      { spec: { a: 1, list: [1], theirs: true } },
    );
    expect(patch).toEqual({ spec: { a: null, list: [{ x: 2 }], b: { c: 1 } } });
    expect(result).toEqual({ spec: { list: [{ x: 2 }], b: { c: 1 }, theirs: true } });
  });

  test('names of every object are keys like any other', () => {
    const odd = JSON.parse('{"data":{"constructor":"1","__proto__":"2"}}') as JsonMap;
    expect(JSON.stringify(appliedAsJson(undefined, odd, { data: {} }).patch)).toBe('{"data":{"constructor":"1","__proto__":"2"}}');
    expect(JSON.stringify(appliedAsJson(odd, { data: {} }, odd).patch)).toBe('{"data":{"constructor":null,"__proto__":null}}');
  });
});

test('a two-way patch makes one object of the other', () => {
  const before = {
    ...pod([
      { name: 'a', image: '1' },
      { name: 'b', image: '1' },
    ]),
    metadata: { labels: { x: '1', y: '2' } },
  };
  const after = { ...pod([{ name: 'b', image: '2' }]), metadata: { labels: { x: '1', z: '3' } } };
  const patch = twoWayPatch(deployment, before, after);
  expect(readStrategicPatch(deployment, { value: patch })(before)).toEqual(after);
  expect(twoWayPatch(deployment, after, after)).toEqual({});
});
