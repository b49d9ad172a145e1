import { expect, test } from 'vitest';
import { closedTable, tabbed } from './tabbed-columns.ts';

test('columns are as wide as their widest cell and the padding; the last cell is not padded', () => {
  expect(
    tabbed(
      [
        ['REVISION', 'CAUSE'],
        ['1', 'new image'],
      ],
      { padding: 2 },
    ),
  ).toBe('REVISION  CAUSE\n1         new image\n');
  expect(tabbed([], { padding: 2 })).toBe('');
});

test('closed cells are padded, too, and no column is narrower than the least width', () => {
  expect(
    tabbed(
      [
        ['A', 'B'],
        ['ünï', 'x'],
      ],
      closedTable,
    ),
  ).toBe('A     B     \nünï   x     \n');
});
