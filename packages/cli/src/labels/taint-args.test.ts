import { expect, test } from 'vitest';
import { changedTaints, readTaintArguments, type Taint } from './taint-args.ts';

test('nodes come first, then taints that are added and removed', () => {
  expect(readTaintArguments(['node', 'a', 'b', 'k=v:NoSchedule', 'x.io/k:NoExecute', 'old-', 'older:NoSchedule-'])).toEqual({
    nodes: ['node', 'a', 'b'],
    add: [
      { key: 'k', value: 'v', effect: 'NoSchedule' },
      { key: 'x.io/k', effect: 'NoExecute' },
    ],
    remove: [
      { key: 'old', effect: '' },
      { key: 'older', effect: 'NoSchedule' },
    ],
  });
});

test.each([
  [['node', 'a'], 'at least one taint update is required'],
  [['k=v:NoSchedule'], 'one or more resources must be specified'],
  [['node', 'a', 'k:NoSchedule', 'b'], 'all resources must be specified before taint changes: b'],
  [['node', 'a', 'k=v'], 'invalid taint spec: k=v'],
  [['node', 'a', 'k=v:Never'], 'invalid taint effect: Never'],
  [['node', 'a', 'k=a=b:NoSchedule'], 'invalid taint spec: k=a=b:NoSchedule'],
  [['node', 'a', 'k=v:NoSchedule:x'], 'invalid taint spec'],
  [['node', 'a', 'k=bad value:NoSchedule'], 'invalid taint spec: k=bad value:NoSchedule, '],
  [['node', 'a', '-k:NoSchedule'], 'invalid taint spec: -k:NoSchedule, '],
  [['node', 'a', 'k=1:NoSchedule', 'k=2:NoSchedule'], 'duplicated taints'],
  [['node', 'a', 'k=1:NoSchedule', 'k-'], 'can not both modify and remove the following taint(s) in the same command: k='],
])('%j is refused', (args, message) => {
  expect(() => readTaintArguments(args)).toThrow(message);
});

const taint = (text: string): Taint => readTaintArguments(['node', 'a', text]).add[0] as Taint;
const change = (before: readonly string[], args: readonly string[], overwrite = false) =>
  changedTaints('a', before.map(taint), readTaintArguments(['node', 'a', ...args]), overwrite);

test('the verb says what happened', () => {
  expect(change([], ['k=v:NoSchedule'])).toEqual({ taints: [taint('k=v:NoSchedule')], verb: 'tainted' });
  expect(change(['k=v:NoSchedule', 'k=v:NoExecute', 'x:NoExecute'], ['k-'])).toEqual({ taints: [taint('x:NoExecute')], verb: 'untainted' });
  expect(change(['k=v:NoSchedule'], ['k=w:NoSchedule'], true)).toEqual({ taints: [taint('k=w:NoSchedule')], verb: 'modified' });
  expect(change(['x:NoExecute'], ['k:NoSchedule', 'x:NoExecute-']).verb).toBe('modified');
});

test('a taint that is there needs --overwrite, one that is removed must be there', () => {
  expect(() => change(['k=v:NoSchedule'], ['k=w:NoSchedule'])).toThrow(
    'node a already has k taint(s) with same effect(s) and --overwrite is false',
  );
  expect(() => change([], ['k:NoSchedule-'])).toThrow('taint "k:NoSchedule" not found');
});
