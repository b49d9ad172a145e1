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

test('nothing is as wanted when it is not there, but for what is to be gone', () => {
  expect(readGoal('delete').met(undefined)).toBe(true);
  for (const text of ['create', 'condition=Ready', 'jsonpath={.status.phase}']) expect(readGoal(text).met(undefined)).toBe(false);
});

test.each([
  ['condition=Bad', 'its condition Bad is False (Why: because)'],
  ['condition=Old', 'its condition Old is of an older generation'],
  ['condition=None', 'it has no condition None, but Ready, Old, Bad'],
  ['jsonpath={.status.phase}=x', '.status.phase is Running'],
  ['jsonpath={.status.none}=x', 'it has nothing at .status.none'],
  ['delete', 'f must let it go first'],
])('%s is away by: %s', (text, expected) => {
  expect(readGoal(text).distance(pod)).toBe(expected);
});

test.each(['', 'ready', 'condition', 'condition=', 'jsonpath={.a', 'jsonpath={.a[}=1'])('%j is refused', (text) => {
  expect(() => readGoal(text)).toThrow();
});
