import { describe, expect, test } from 'vitest';
import type { Cell, Column, Row } from '../../api/collection.ts';
import { arrange, cellKey, nextOrder, type Order, parseOrder } from './arrange.ts';

const columns: Column[] = ['Name', 'Ready', 'Restarts', 'Age'].map((name) => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
}));
const row = (key: string, cells: readonly Cell[] = [], createdAt = 0): Row => {
  const [namespace, name = ''] = key.split('/');
  return { key, namespace, name, uid: key, createdAt, isTerminating: false, cells: [name, ...cells] };
};

/** All steps at once. */
function arranged(rows: Iterable<Row>, filter = '', order: Order = parseOrder(null)): string[] {
  const steps = arrange(rows, columns, filter, order);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.map(({ key }) => key);
  }
}

describe('order', () => {
  test.each([
    [
      ['10', '9', '100'],
      ['9', '10', '100'],
    ],
    [
      ['web-10', 'web-9', 'Web-2'],
      ['Web-2', 'web-9', 'web-10'],
    ],
    [
      ['2m', '90s', '1h', '5d3h', '30h'],
      ['90s', '2m', '1h', '30h', '5d3h'],
    ],
    [
      ['1/2', '0/2', '10/10'],
      ['0/2', '1/2', '10/10'],
    ],
    [
      ['1 (5m ago)', '0', '12 (3d ago)'],
      ['0', '1 (5m ago)', '12 (3d ago)'],
    ],
  ])('%j is %j', (cells, sorted) => {
    expect(cells.toSorted((a, b) => (cellKey(a) < cellKey(b) ? -1 : 1))).toEqual(sorted);
  });

  test('ages are those of the objects, youngest first', () => {
    const rows = [row('a/old', [], 100), row('a/new', [], 300), row('a/unknown', [], Number.NaN), row('a/middle', [], 200)];
    expect(arranged(rows, '', parseOrder('Age'))).toEqual(['a/new', 'a/middle', 'a/old', 'a/unknown']);
    expect(arranged(rows, '', parseOrder('-Age'))).toEqual(['a/unknown', 'a/old', 'a/middle', 'a/new']);
  });

  test('rows that are equal, and those of a column that is not there, have the order of their names', () => {
    const rows = [row('b/x', ['1/1']), row('a/y', ['1/1']), row('a/x', ['1/1'])];
    expect(arranged(rows, '', parseOrder('Ready'))).toEqual(['a/x', 'a/y', 'b/x']);
    expect(arranged(rows, '', parseOrder('Gone'))).toEqual(['a/x', 'a/y', 'b/x']);
    expect(arranged(rows, '', parseOrder('-Namespace'))).toEqual(['b/x', 'a/x', 'a/y']);
  });

  test('a column is sorted upwards, downwards and not at all', () => {
    expect(nextOrder(parseOrder(null), 'Age')).toBe('Age');
    expect(nextOrder(parseOrder('Age'), 'Age')).toBe('-Age');
    expect(nextOrder(parseOrder('-Age'), 'Age')).toBe('');
    expect(nextOrder(parseOrder('-Age'), 'Name')).toBe('Name');
  });
});

test('a row matches where every word is somewhere in it', () => {
  const rows = [row('default/web-1', ['Running']), row('default/web-2', ['Pending']), row('system/db', ['Running', null, { a: 'x' }])];
  expect(arranged(rows, 'RUN')).toEqual(['default/web-1', 'system/db']);
  expect(arranged(rows, ' web  running ')).toEqual(['default/web-1']);
  expect(arranged(rows, 'system')).toEqual(['system/db']);
  expect(arranged(rows, '"a":"x"')).toEqual(['system/db']);
  expect(arranged(rows, 'nothing')).toEqual([]);
});

test('many rows are sorted in steps of a thousand, as one list would be', () => {
  const rows = Array.from({ length: 10_500 }, (_, i) => row(`n/${(i * 7919) % 10_500}`, [String((i * 31) % 97)]));
  const steps = arrange(rows, columns, '', parseOrder('Ready'));
  let pauses = 0;
  let result = steps.next();
  for (; !result.done; result = steps.next()) pauses++;
  expect(pauses).toBeGreaterThan(30);
  const expected = rows.toSorted((a, b) => Number(a.cells[1]) - Number(b.cells[1]) || (a.key < b.key ? -1 : 1));
  expect(result.value).toEqual(expected);
});
