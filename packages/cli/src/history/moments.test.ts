import { expect, test } from 'vitest';
import { clockText, readMoment, readTime } from './moments.ts';

const now = new Date(2026, 4, 2, 10, 30).getTime();
const local = (day: number, hours: number, minutes: number, seconds = 0): number =>
  new Date(2026, 4, day, hours, minutes, seconds).getTime();

test.each([
  ['10m', now - 600_000],
  ['1h30m', now - 5_400_000],
  ['2d', now - 2 * 86_400_000],
  ['1d12h', now - 36 * 3_600_000],
  ['0s', now],
  ['9:05', local(2, 9, 5)],
  ['10:29:59', local(2, 10, 29, 59)],
  ['10:32', local(1, 10, 32)],
  ['2026-05-01T10:00:00Z', Date.UTC(2026, 4, 1, 10)],
  ['2026-05-01T12:00:00.5+02:00', Date.UTC(2026, 4, 1, 10) + 500],
])('%s', (text, time) => {
  expect(readTime('since', text, now)).toBe(time);
  expect(readMoment('at', text, now)).toEqual({ time });
});

test('versions and now are moments, too', () => {
  expect(readMoment('at', '1234', now)).toEqual({ version: 1234 });
  expect(readMoment('at', 'now', now)).toBe('now');
  expect(readTime('since', '', now)).toBeUndefined();
});

test.each(['yesterday', '25:00', '10:61', '10', '10x', '-5m', '1d-5m', '2026-13-01T00:00:00Z'])('%s is refused as a time', (text) => {
  expect(() => readTime('since', text, now)).toThrow('--since');
});

test('times of other days are shown with the day', () => {
  expect(clockText(local(2, 9, 5), now)).toBe('09:05');
  expect(clockText(local(1, 23, 59), now)).toBe('2026-05-01 23:59');
});
