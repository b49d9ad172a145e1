import { expect, test } from 'vitest';
import { ROW_HEIGHT, rowWindow, scrollTopFor, windowLength } from './window.ts';

test('only rows that can be seen are drawn, and a few around them', () => {
  for (const scrollTop of [0, 1, 27, 28, 8000, 8123, 600_000, 49_990 * ROW_HEIGHT]) {
    const { first, end } = rowWindow(scrollTop, 280, 50_000);
    expect(first).toBeLessThanOrEqual(Math.max(0, scrollTop / ROW_HEIGHT));
    expect(end).toBeGreaterThanOrEqual(Math.min(50_000, (scrollTop + 280) / ROW_HEIGHT));
    expect(end - first).toBe(windowLength(280));
  }
  expect(windowLength(280)).toBe(34);
});

test('a short scroll draws nothing anew', () => {
  const windows = Array.from({ length: 80 }, (_, i) => rowWindow((1000 + i / 10) * ROW_HEIGHT, 280, 50_000).first);
  expect(new Set(windows).size).toBeLessThanOrEqual(2);
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
