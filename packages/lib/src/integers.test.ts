import { expect, test } from 'vitest';
import { compareNumbers, hasLongDigits, integerOf, isInteger, nextInt64, readBack, toInteger } from './integers.ts';
import fc from './testing/fast-check.testing.ts';

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740991', -9007199254740991],
  ['-9007199254740992', -9007199254740992n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  // Floats: no int64.
  ['9223372036854775808', 2 ** 63],
  ['-9223372036854775809', -(2 ** 63)],
  ['18446744073709551615', 2 ** 64],
  ['1'.repeat(400), Number.POSITIVE_INFINITY],
  ['+42', 42],
  ['0x7fffffffffffffff', 9223372036854775807n],
  ['-0x8000000000000000', -9223372036854775808n],
  ['0o777', 511],
  ['0b101', 5],
])('%s is %s', (text, value) => {
  expect(integerOf(text)).toBe(value);
});

test('each integer has one form, which its text leads back to', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const form = toInteger(value);
      expect(typeof form === 'number').toBe(Number.isSafeInteger(Number(value)));
      expect(integerOf(String(value))).toBe(form);
      expect(isInteger(form)).toBe(true);
    }),
  );
});

test('a whole float beyond 2^53 is no integer, and its text is that of one', () => {
  expect([1e16, 2 ** 53, 1e19, 1.5, Number.NaN].map(isInteger)).toEqual([false, false, false, false, false]);
  expect([1e16, -1e18, 1e19, 1.5, 7].map(readBack)).toEqual([10000000000000000n, -1000000000000000000n, 1e19, 1.5, 7]);
});

test('integers are counted and compared beyond 2^53', () => {
  expect(nextInt64(1)).toBe(2);
  expect(nextInt64(9007199254740991)).toBe(9007199254740992n);
  expect(nextInt64(-9007199254740992n)).toBe(-9007199254740991);
  expect(nextInt64(9223372036854775807n)).toBe(-9223372036854775808n);
  expect([9007199254740993n, 1, 9007199254740992n, 1e19, 0.5].sort(compareNumbers)).toEqual([
    0.5,
    1,
    9007199254740992n,
    9007199254740993n,
    1e19,
  ]);
});

test('a run of 16 digits is found wherever it begins, and none of 15', () => {
  for (let before = 0; before < 40; before++)
    for (const after of ['', '}', ',1234,'.repeat(9)]) {
      expect(hasLongDigits('a'.repeat(before) + '1'.repeat(16) + after)).toBe(true);
      expect(hasLongDigits('a'.repeat(before) + '1'.repeat(15) + after)).toBe(false);
    }
  fc.assert(
    fc.property(fc.array(fc.constantFrom('7', '12345678', '1234567890123456', ':', 'a-b')), (parts) => {
      expect(hasLongDigits(parts.join(''))).toBe(/\d{16}/.test(parts.join('')));
    }),
  );
});
