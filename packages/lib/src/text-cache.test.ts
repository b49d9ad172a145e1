import { expect, test } from 'vitest';
import { TextCache } from './text-cache.ts';

test('the same text gives the same value; the oldest makes room, and long texts are not kept', () => {
  const made: string[] = [];
  const make = (text: string): { text: string } => {
    if (text === 'bad') throw new Error('refused');
    made.push(text);
    return { text };
  };
  const table = new TextCache<{ text: string }>(2, 4);
  const first = table.get('a', make);
  expect(table.get('a', make)).toBe(first);
  table.get('b', make);
  table.get('c', make);
  expect(table.get('a', make)).not.toBe(first);
  expect(table.get('large', make)).not.toBe(table.get('large', make));
  for (let i = 0; i < 2; i++) expect(() => table.get('bad', make)).toThrow('refused');
  expect(made).toEqual(['a', 'b', 'c', 'a', 'large', 'large']);
});
