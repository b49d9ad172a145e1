import { expect, test } from 'vitest';
import { readGoal } from './wait-args.ts';

const pod = {
  metadata: { name: 'a', generation: 3, finalizers: ['f'], deletionTimestamp: 'now' },
  status: {
    phase: 'Running',
    n: 2,
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Old', status: 'True', observedGeneration: 2 },
      { type: 'Bad', status: 'False', reason: 'Why', message: 'because' },
    ],
  },
};

test.each([
  ['condition=Ready', true],
  ['condition=ready=true', true],
  ['condition=Ready=False', false],
  ['condition=Bad=false', true],
  ['condition=Old', false],
  ['condition=None', false],
  ['jsonpath={.status.phase}=Running', true],
  ['jsonpath=.status.phase=Running', true],
  ['jsonpath=status.n=2', true],
  ['jsonpath={.status.phase}', true],
  ['jsonpath={.status.phase}=Pending', false],
  ['jsonpath={.status.none}', false],
  ['jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', true],
  ['create', true],
  ['delete', false],
])('%s: %j', (text, met) => {
  expect(readGoal(text).met(pod)).toBe(met);
});

test('a missing object meets only the deletion', () => {
  expect(readGoal('delete').met(undefined)).toBe(true);
  for (const text of ['create', 'condition=Ready', 'jsonpath={.status.phase}']) expect(readGoal(text).met(undefined)).toBe(false);
});

test.each([
  ['condition=Bad', 'it is False (Why: because)'],
  ['condition=Old', 'it is of an older generation'],
  ['condition=None', 'the object has only Ready, Old, Bad'],
  ['jsonpath={.status.phase}=x', 'it is Running'],
  ['jsonpath={.status.none}=x', 'it has no value'],
  ['delete', 'the object has finalizers f'],
])('%s is not met: %s', (text, expected) => {
  expect(readGoal(text).distance(pod)).toBe(expected);
});

test.each(['', 'ready', 'condition', 'condition=', 'jsonpath={.a', 'jsonpath={.a[}=1'])('%j is refused', (text) => {
  expect(() => readGoal(text)).toThrow();
});
