import { describe, expect, test } from 'vitest';
import { changedFields } from './changed-fields.ts';

describe('changed fields', () => {
  test.each([
    [{ spec: { replicas: 1 } }, { spec: { replicas: 2 } }, ['spec.replicas']],
    [
      { metadata: { labels: { 'a.b/c': '1', d: '1' } } },
      { metadata: { labels: { d: '2' } } },
      ['metadata.labels["a.b/c"]', 'metadata.labels.d'],
    ],
    [{ list: [{ image: 'a' }, { image: 'b' }] }, { list: [{ image: 'a' }, { image: 'c' }] }, ['list[1].image']],
    [{ list: [1] }, { list: [1, 2] }, ['list']],
    [undefined, { data: { a: '1' }, empty: {} }, ['data.a', 'empty']],
    [{ metadata: { managedFields: [], resourceVersion: '1' } }, { metadata: { managedFields: [{}], resourceVersion: '2' } }, []],
    [{ a: null }, { a: { b: 1 } }, ['a']],
  ])('%j → %j', (before, after, fields) => {
    expect(changedFields(before, after)).toEqual(fields);
  });
  test('are bounded in number', () => {
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`field${i}`, i]));
    expect(changedFields({}, many)).toHaveLength(201);
    expect(changedFields({}, many).at(-1)).toBe('(50 more)');
  });
});
