import { expect, test } from 'vitest';
import { faultsOfError } from './error-faults.ts';

const text = 'spec:\n  replicas: -1\n  foo: 1\n';
const marked = (error: Parameters<typeof faultsOfError>[0]): string[] =>
  faultsOfError(error, text).map(({ from, to, message }) => `${text.slice(from, to)}: ${message}`);

test('causes stand at their fields', () => {
  expect(marked({ message: 'invalid', causes: [{ field: 'spec.replicas', message: 'must be positive' }] })).toEqual([
    'replicas: must be positive',
  ]);
});

test('fields of a message without causes are found', () => {
  expect(marked({ message: 'strict decoding error: unknown field "spec.foo"', causes: [] })).toEqual(['foo: unknown field "spec.foo"']);
});

test('a text that cannot be read has no places', () => {
  expect(faultsOfError({ message: '', causes: [{ field: 'spec' }] }, 'a: [')).toEqual([]);
});
