import { expect, test } from 'vitest';
import { LineStore, MOST_CHARACTERS, MOST_LINES } from './line-store.ts';
import { LONGEST_SHOWN, type LogLine, shownText, splitLine } from './log-line.ts';
import { columnsOf, ROW_HEIGHT, RowHeights, rowsInSight } from './row-heights.ts';
import { matchesIn, partsOf } from './search.ts';

let lastId = 0;
const line = (at: number, text = 'x'): LogLine => ({ id: ++lastId, container: 'web', time: '', at, text });
const texts = ({ lines }: LineStore): string[] => lines.map(({ text }) => text);

test('times are split from texts; messages of the node agent have none', () => {
  expect(splitLine('2024-05-01T10:00:00.123456789Z GET /')).toEqual({ time: '2024-05-01T10:00:00.123456789Z', text: 'GET /' });
  expect(splitLine('2024-05-01T10:00:00+02:00 ')).toEqual({ time: '2024-05-01T10:00:00+02:00', text: '' });
  expect(splitLine('unable to retrieve container logs')).toEqual({ time: '', text: 'unable to retrieve container logs' });
});

test('colours are left out, and other control characters are visible', () => {
  expect(shownText('\u001b[1;31mred\u001b[0m\u0007\u202e <b>')).toBe('red⟨U+0007⟩⟨U+202E⟩ <b>');
  expect(shownText('\u001b]8;;http://evil\u0007link')).toBe('⟨U+001B⟩]8;;http://evil⟨U+0007⟩link');
  expect(shownText('x'.repeat(1_000_000))).toHaveLength(LONGEST_SHOWN);
});

test('lines of several containers are in the order of their times; those of one time stay as they came', () => {
  const store = new LineStore();
  store.add([line(1, 'a1'), line(3, 'a3')]);
  store.add([line(2, 'b2'), line(3, 'b3')]);
  expect(texts(store)).toEqual(['a1', 'b2', 'a3', 'b3']);
});

test('the oldest lines go first, by number and by size', () => {
  const many = new LineStore();
  many.add(Array.from({ length: MOST_LINES + 2 }, (_, i) => line(i, String(i))));
  expect([many.lines.length, many.lines[0]?.text, many.isTruncated]).toEqual([MOST_LINES, '2', true]);
  const large = new LineStore();
  large.add(['a', 'b', 'c'].map((letter, i) => line(i, letter.repeat(MOST_CHARACTERS / 2))));
  expect(large.lines.map(({ text }) => text[0])).toEqual(['b', 'c']);
});

test('wrapped lines are as high as their letters need', () => {
  expect([columnsOf('abc'), columnsOf('a\tb'), columnsOf('日本')]).toEqual([3, 10, 4]);
  const lines = [line(0, ''), line(1, 'x'.repeat(80)), line(2, 'x'.repeat(81)), line(3, '日'.repeat(41))];
  const { tops } = new RowHeights(80).layoutOf(lines);
  expect([...tops]).toEqual([0, 1, 2, 4, 6].map((rows) => rows * ROW_HEIGHT));
  expect([...new RowHeights(undefined).layoutOf(lines).tops]).toEqual([0, 1, 2, 3, 4].map((rows) => rows * ROW_HEIGHT));
});

test('of many lines those in sight are drawn', () => {
  const layout = new RowHeights(undefined).layoutOf(Array.from({ length: 10_000 }, (_, i) => line(i)));
  expect(rowsInSight(layout, 5000 * ROW_HEIGHT, 10 * ROW_HEIGHT)).toEqual({ first: 4980, end: 5031 });
  expect(rowsInSight(layout, 0, 100)).toEqual({ first: 0, end: 26 });
  expect(rowsInSight(new RowHeights(undefined).layoutOf([]), 0, 100)).toEqual({ first: 0, end: 0 });
});

test('a search finds text as it stands, in capitals or not', () => {
  expect(matchesIn([line(0, 'one'), line(1, 'An ERROR (x)'), line(2, 'error')], 'Error')).toEqual([1, 2]);
  expect(matchesIn([line(0, 'a')], '')).toEqual([]);
  expect(partsOf('a.b.A', 'a')).toEqual([
    { text: 'a', isMatch: true },
    { text: '.b.', isMatch: false },
    { text: 'A', isMatch: true },
  ]);
  expect(partsOf('aaaa'.repeat(1000), 'a').length).toBeLessThanOrEqual(202);
});
