import { describe, expect, test } from 'vitest';
import fc from './testing/fast-check.testing.ts';
import {
  canonicalDuration,
  canonicalMicroTime,
  canonicalTime,
  durationMillis,
  formatDuration,
  formatTime,
  microTimeOf,
  parseDuration,
  parseInstant,
  TimeError,
  timeMillis,
} from './time.ts';

test.each([
  ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09Z'],
  ['2024-05-06T07:08:09.999Z', '2024-05-06T07:08:09Z'],
  ['2024-05-06T07:08:09+02:00', '2024-05-06T05:08:09Z'],
  ['2024-02-29T23:59:59-01:30', '2024-03-01T01:29:59Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59Z'],
])('%s is written %s', (text, canonical) => {
  expect(canonicalTime(text)).toBe(canonical);
});

const layout = '"2006-01-02T15:04:05Z07:00"';
test.each([
  ['yesterday', `parsing time "yesterday" as ${layout}: cannot parse "yesterday" as "2006"`],
  ['2021-01-01', `parsing time "2021-01-01" as ${layout}: cannot parse "" as "T"`],
  ['2021-01-01 00:00:00Z', `parsing time "2021-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
  ['2021-01-01T00:00:00', `parsing time "2021-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
  ['2021-13-01T00:00:00Z', 'parsing time "2021-13-01T00:00:00Z": month out of range'],
  ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
  ['2021-01-01T24:00:00Z', 'parsing time "2021-01-01T24:00:00Z": hour out of range'],
  ['2021-01-01T00:00:00Zzz', 'parsing time "2021-01-01T00:00:00Zzz": extra text: "zz"'],
  ['9999-12-31T23:59:59-01:00', 'parsing time "9999-12-31T23:59:59-01:00": year out of range'],
])('%s is refused', (text, message) => {
  expect(() => canonicalTime(text)).toThrow(new TimeError(message));
});

test('times in microseconds need exactly six digits', () => {
  const micro = '"2006-01-02T15:04:05.000000Z07:00"';
  expect(canonicalMicroTime('2022-03-04T05:06:07.000008Z')).toBe('2022-03-04T05:06:07.000008Z');
  expect(canonicalMicroTime('2022-03-04T05:06:07.123456+01:00')).toBe('2022-03-04T04:06:07.123456Z');
  expect(() => canonicalMicroTime('2022-03-04T05:06:07Z')).toThrow(
    `parsing time "2022-03-04T05:06:07Z" as ${micro}: cannot parse "Z" as ".000000"`,
  );
  expect(() => canonicalMicroTime('2022-03-04T05:06:07.1Z')).toThrow(
    `parsing time "2022-03-04T05:06:07.1Z" as ${micro}: cannot parse ".1Z" as ".000000"`,
  );
});

test('a point in time survives being written and read', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (millis) => {
      expect(timeMillis(formatTime(millis))).toBe(Math.floor(millis / 1000) * 1000);
      const { seconds, nanos } = parseInstant(microTimeOf(millis), true);
      expect(seconds * 1000 + nanos / 1e6).toBe(millis);
    }),
  );
});

describe('durations', () => {
  test.each([
    ['90s', '1m30s'],
    ['1h', '1h0m0s'],
    ['1h2m3s', '1h2m3s'],
    ['1.5h', '1h30m0s'],
    ['-90m', '-1h30m0s'],
    ['300ms', '300ms'],
    ['1500ms', '1.5s'],
    ['1500us', '1.5ms'],
    ['1µs', '1µs'],
    ['10ns', '10ns'],
    ['0', '0s'],
    ['+5s', '5s'],
    ['.5s', '500ms'],
    ['61s1ns', '1m1.000000001s'],
  ])('%s is written %s', (text, canonical) => {
    expect(canonicalDuration(text)).toBe(canonical);
  });
  test.each([
    ['soon', 'time: invalid duration "soon"'],
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['34x', 'time: unknown unit "x" in duration "34x"'],
    ['5', 'time: missing unit in duration "5"'],
    ['.s', 'time: invalid duration ".s"'],
    ['9999999h', 'time: invalid duration "9999999h"'],
    ['1toString', 'time: unknown unit "toString" in duration "1toString"'],
  ])('%j is refused', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new TimeError(message));
  });
  test('milliseconds of a duration', () => {
    expect(durationMillis('1m0.5s')).toBe(60_500);
  });
  test('what is printed is read as the same duration', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (nanos) => {
        expect(parseDuration(formatDuration(nanos))).toBe(nanos);
      }),
    );
  });
});
