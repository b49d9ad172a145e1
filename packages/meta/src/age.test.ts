import { expect, test } from 'vitest';
import { ageAt, humanDuration } from './age.ts';

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;
const y = 365 * d;

test.each([
  [-5 * s, '<invalid>'],
  [-1 * s, '0s'],
  [0, '0s'],
  [5.9 * s, '5s'],
  [119 * s, '119s'],
  [2 * m, '2m'],
  [3 * m + 20 * s, '3m20s'],
  [10 * m + 5 * s, '10m'],
  [179 * m, '179m'],
  [3 * h, '3h'],
  [5 * h + 10 * m, '5h10m'],
  [8 * h + 10 * m, '8h'],
  [47 * h, '47h'],
  [2 * d, '2d'],
  [2 * d + 5 * h, '2d5h'],
  [8 * d + 5 * h, '8d'],
  [729 * d, '729d'],
  [2 * y, '2y'],
  [3 * y + 40 * d, '3y40d'],
  [9 * y + 40 * d, '9y'],
])('%d ms read as %s', (millis, long) => {
  expect(humanDuration(millis)).toBe(long);
});

test('the age of a time text', () => {
  const now = Date.parse('2024-01-01T00:10:00Z');
  expect(ageAt(now, '2024-01-01T00:06:40Z')).toBe('3m20s');
  expect(ageAt(now, undefined)).toBe('<unknown>');
});
