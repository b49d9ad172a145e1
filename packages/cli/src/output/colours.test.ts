import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { cellColour, hasColours, paintFor, statusColour } from './colours.ts';

const terminal = { ...testIO().terminal, size: () => ({ width: 80, height: 24 }) };

test('colours are for people at a terminal', () => {
  expect(hasColours(testIO({ terminal }))).toBe(true);
  expect(hasColours(testIO())).toBe(false);
  expect(hasColours(testIO({ terminal, env: { NO_COLOR: '1' } }))).toBe(false);
  expect(hasColours(testIO({ terminal, env: { NO_COLOR: '' } }))).toBe(true);
  expect(hasColours(testIO({ terminal, env: { TERM: 'dumb' } }))).toBe(false);
  expect(hasColours(testIO({ terminal, program: 'kubectl' }))).toBe(false);
});

test('a text in a colour, or as it is', () => {
  expect(paintFor(testIO({ terminal }))('x', 'red')).toBe('\u001b[31mx\u001b[0m');
  expect(paintFor(testIO({ terminal }))('x', undefined)).toBe('x');
  expect(paintFor(testIO())('x', 'red')).toBe('x');
});

test.each([
  ['Running', 'green'],
  ['Bound', 'green'],
  ['2/2', 'green'],
  ['1/3', 'yellow'],
  ['Pending', 'yellow'],
  ['Terminating', 'yellow'],
  ['CrashLoopBackOff', 'red'],
  ['Error', 'red'],
  ['NotReady', 'red'],
  ['False', 'red'],
  ['web-7', undefined],
])('%s', (text, colour) => {
  expect(statusColour(text)).toBe(colour);
});

test('only columns of states are coloured', () => {
  expect(cellColour('Status', 'Running')).toBe('green');
  expect(cellColour('NAME', 'Running')).toBeUndefined();
});
