import { expect, test } from 'vitest';
import { changesOf, mergeValues } from './merge-values.ts';

const base = {
  metadata: { name: 'web', resourceVersion: '1', labels: { app: 'web' } },
  spec: {
    replicas: 1,
    containers: [
      { name: 'a', image: 'a:1' },
      { name: 'b', image: 'b:1' },
    ],
    args: ['x', 'y'],
  },
  status: { ready: 0 },
};
type Base = typeof base;
const version = (change: (copy: Base & { [key: string]: unknown }) => void): unknown => {
  const copy = structuredClone(base);
  change(copy);
  return copy;
};

test('changes of different fields are merged', () => {
  const mine = version((copy) => (copy.spec.containers[0]!.image = 'a:2'));
  const theirs = version((copy) => {
    copy.spec.replicas = 3;
    copy.metadata.resourceVersion = '2';
    copy.status.ready = 1;
  });
  const { value, conflicts } = mergeValues(base, mine, theirs);
  expect(conflicts).toEqual([]);
  expect(value).toEqual({
    metadata: { name: 'web', resourceVersion: '2', labels: { app: 'web' } },
    spec: {
      ...base.spec,
      replicas: 3,
      containers: [
        { name: 'a', image: 'a:2' },
        { name: 'b', image: 'b:1' },
      ],
    },
    status: { ready: 1 },
  });
});

test('a field that both changed is a conflict, which is decided', () => {
  const mine = version((copy) => (copy.spec.replicas = 5));
  const theirs = version((copy) => (copy.spec.replicas = 3));
  expect(mergeValues(base, mine, theirs)).toMatchObject({
    value: { spec: { replicas: 5 } },
    conflicts: [{ path: ['spec', 'replicas'], base: 1, mine: 5, theirs: 3 }],
  });
  expect(mergeValues(base, mine, theirs, () => 'theirs').value).toMatchObject({ spec: { replicas: 3 } });
});

test('the same change of both is no conflict', () => {
  const both = version((copy) => (copy.spec.replicas = 5));
  expect(mergeValues(base, both, structuredClone(both)).conflicts).toEqual([]);
});

test('items of lists are merged by their names', () => {
  const mine = version((copy) => copy.spec.containers.push({ name: 'mine', image: 'm' }));
  const theirs = version((copy) => {
    copy.spec.containers.shift();
    copy.spec.containers.push({ name: 'theirs', image: 't' });
  });
  const { value, conflicts } = mergeValues(base, mine, theirs);
  expect(conflicts).toEqual([]);
  expect((value as Base).spec.containers.map(({ name }) => name)).toEqual(['b', 'theirs', 'mine']);
});

test('lists of plain values that both changed are a conflict', () => {
  const mine = version((copy) => copy.spec.args.push('mine'));
  const theirs = version((copy) => copy.spec.args.push('theirs'));
  expect(mergeValues(base, mine, theirs).conflicts.map(({ path }) => path)).toEqual([['spec', 'args']]);
});

test('what one removed and the other changed is a conflict', () => {
  const mine = version((copy) => copy.spec.containers.shift());
  const theirs = version((copy) => (copy.spec.containers[0]!.image = 'a:2'));
  expect(mergeValues(base, mine, theirs).conflicts).toMatchObject([{ mine: undefined, theirs: { name: 'a', image: 'a:2' } }]);
});

test('a field that was removed stays removed', () => {
  const mine = version((copy) => Reflect.deleteProperty(copy.metadata, 'labels'));
  const theirs = version((copy) => (copy.spec.replicas = 3));
  expect(mergeValues(base, mine, theirs).value).toMatchObject({ metadata: { name: 'web', resourceVersion: '1' }, spec: { replicas: 3 } });
  expect((mergeValues(base, mine, theirs).value as Base).metadata.labels).toBeUndefined();
});

test('keys that every object inherits are keys like any other', () => {
  const mine = { data: JSON.parse('{"__proto__": "mine", "constructor": "a"}') as object };
  const { value } = mergeValues({ data: {} }, mine, { data: { other: '1' } });
  expect(JSON.stringify(value)).toBe('{"data":{"other":"1","__proto__":"mine","constructor":"a"}}');
});

test('changes leave out what only the server sets', () => {
  const after = version((copy) => {
    copy.metadata.resourceVersion = '2';
    copy.status.ready = 1;
    copy.spec.containers[1]!.image = 'b:2';
    Reflect.deleteProperty(copy.metadata, 'labels');
  });
  expect(changesOf(base, after)).toEqual([
    { path: ['metadata', 'labels'], before: { app: 'web' }, after: undefined },
    { path: ['spec', 'containers', 1, 'image'], before: 'b:1', after: 'b:2' },
  ]);
});
