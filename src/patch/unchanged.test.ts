import { expect, test } from 'vitest';
import { sameApartFromTimes } from './unchanged.ts';

const entry = {
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2024-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
};
const object = (more: object = {}, metadata: object = {}): { [key: string]: unknown } => ({
  data: { a: '1' },
  ...more,
  metadata: { name: 'box', resourceVersion: '5', managedFields: [entry, { ...entry, manager: 'n' }], ...metadata },
});

test('times, their order and the version do not count', () => {
  expect(sameApartFromTimes(object(), object())).toBe(true);
  const later = { ...entry, time: '2025-01-01T00:00:00Z' };
  expect(sameApartFromTimes(object(), object({}, { resourceVersion: '9', managedFields: [{ ...entry, manager: 'n' }, later] }))).toBe(true);
  expect(sameApartFromTimes(object(), object({ rules: [] }))).toBe(true);
  expect(sameApartFromTimes(object({ rules: [] }), object())).toBe(true);
});

test('everything else does', () => {
  for (const other of [
    object({ data: { a: '2' } }),
    object({ data: { a: '1', constructor: '2' } }),
    object({ data: undefined }),
    object({ data: {} }),
    object({ rules: [1] }),
    object({ rules: null }, { labels: { a: 'b' } }),
    object({}, { name: 'other' }),
    object({}, { managedFields: [entry] }),
    object({}, { managedFields: undefined }),
    object({}, { managedFields: [entry, { ...entry, manager: 'n', fieldsV1: { 'f:b': {} } }] }),
  ]) {
    expect(sameApartFromTimes(object(), other)).toBe(false);
    expect(sameApartFromTimes(other, object())).toBe(false);
  }
});
