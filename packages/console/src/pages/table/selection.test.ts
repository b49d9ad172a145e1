import { expect, test } from 'vitest';
import type { Row } from '../../api/collection.ts';
import { Selection } from './selection.ts';

const rows: Row[] = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
  key: name,
  name,
  namespace: undefined,
  uid: name,
  createdAt: 0,
  isTerminating: false,
  cells: [name],
}));
const at = (index: number): Row => rows[index] as Row;

test('keys move from the active row, and not beyond the ends', () => {
  const selection = new Selection();
  expect(['ArrowDown', 'ArrowUp', 'End', 'PageDown', 'x'].map((key) => selection.moved(key, rows, 3))).toEqual([0, 0, 4, 2, undefined]);
  selection.active.value = 'd';
  expect(['ArrowDown', 'ArrowUp', 'Home', 'PageDown', 'PageUp'].map((key) => selection.moved(key, rows, 3))).toEqual([4, 2, 0, 4, 0]);
  expect(selection.moved('ArrowDown', [], 3)).toBeUndefined();
});

test('a selection is extended from the row that was chosen last', () => {
  const selection = new Selection();
  selection.toggle(at(1));
  selection.extendTo(at(3), rows);
  expect([...selection.keys.value]).toEqual(['b', 'c', 'd']);
  selection.toggle(at(2));
  expect(selection.targets(rows).map(({ key }) => key)).toEqual(['b', 'd']);
});

test('without a selection the active row is meant, and nothing that is not shown', () => {
  const selection = new Selection();
  expect(selection.targets(rows)).toEqual([]);
  selection.active.value = 'c';
  expect(selection.targets(rows)).toEqual([at(2)]);
  selection.all(rows);
  expect(selection.targets(rows.slice(0, 2))).toEqual([at(0), at(1)]);
  selection.clear();
  expect(selection.keys.value.size).toBe(0);
});
