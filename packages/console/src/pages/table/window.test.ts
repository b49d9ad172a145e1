import { expect, test } from 'vitest';
import { ROW_HEIGHT, rowWindow, scrollTopFor } from './window.ts';

test('only rows that can be seen are drawn, and a few around them', () => {
  expect(rowWindow(0, 280, 50_000)).toEqual({ first: 0, end: 22 });
  expect(rowWindow(1000 * ROW_HEIGHT, 280, 50_000)).toEqual({ first: 988, end: 1022 });
  expect(rowWindow(49_990 * ROW_HEIGHT, 280, 50_000)).toEqual({ first: 49_978, end: 50_000 });
});

test('a table that has become shorter than what was scrolled to shows its end', () => {
  expect(rowWindow(1000 * ROW_HEIGHT, 280, 5)).toEqual({ first: 0, end: 5 });
  expect(rowWindow(0, 280, 0)).toEqual({ first: 0, end: 0 });
});

test('a row is scrolled to by the shortest way', () => {
  expect(scrollTopFor(3, 0, 280)).toBe(0);
  expect(scrollTopFor(10, 0, 280)).toBe(ROW_HEIGHT);
  expect(scrollTopFor(2, 280, 280)).toBe(2 * ROW_HEIGHT);
});
