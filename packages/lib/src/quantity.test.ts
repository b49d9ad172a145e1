import { describe, expect, test } from 'vitest';
import { canonicalQuantity, compareQuantities, milliQuantity, parseQuantity, Quantity, QuantityError, quantityOf } from './quantity.ts';
import fc from './testing/fast-check.testing.ts';

describe('canonical text', () => {
  test.each([
    // As recorded from a stock server.
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1.5', '1500m'],
    ['0.5Gi', '512Mi'],
    ['1000m', '1'],
    ['1000Ki', '1000Ki'],
    ['2', '2'],
    ['1e3', '1e3'],
    ['0.1', '100m'],
    ['123456789', '123456789'],
    ['1.5G', '1500M'],
    ['1000M', '1G'],
    ['0Mi', '0'],
    ['1e-3', '1e-3'],
    ['3k', '3k'],
    ['128974848', '128974848'],
    ['1E', '1E'],
    ['0.5Ti', '512Gi'],
    ['2048Mi', '2Gi'],
    // Families stay, signs and zeros go, what is finer than a billionth is rounded up.
    ['1000', '1k'],
    ['0', '0'],
    ['-0', '0'],
    ['00', '0'],
    ['-1.5', '-1500m'],
    ['1100u', '1100u'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['1e4', '10e3'],
    ['1E4', '10e3'],
    ['1E3', '1E3'],
    ['1e0', '1e0'],
    ['1.5e3', '1500'],
    ['0.5Ki', '512'],
    ['1.5Ki', '1536'],
    ['0.1Ki', '102400m'],
    ['0.0001Ki', '102400u'],
    ['1025Ki', '1025Ki'],
    ['8Ei', '9223372036854775807'],
    ['1000E', '1000E'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    // A stock server returns these as they came.
    ['+1', '+1'],
    ['1.500', '1.500'],
    ['+1.5', '1500m'],
    // Digits may be missing.
    ['.5', '500m'],
    ['1.', '1.'],
    ['-', '0'],
    ['.', '0'],
    [' 1Gi ', '1Gi'],
  ])('%s is written %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });
});

const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffix = "unable to parse quantity's suffix";
test.each([
  ['abc', format],
  ['', format],
  ['1.2.3', format],
  ['1 Gi', format],
  ['0x10', format],
  ['1e3k', format],
  ['5kk', suffix],
  ['1e', suffix],
  ['--1', suffix],
  ['1ki', suffix],
  ['1KI', format],
  ['1m3', suffix],
  ['1e99999', 'unable to parse numeric part of quantity'],
  ['9'.repeat(500), 'unable to parse numeric part of quantity'],
])('%j is refused', (text, message) => {
  expect(() => parseQuantity(text)).toThrow(new QuantityError(message));
});

test('amounts are compared and added whatever their suffix', () => {
  expect(compareQuantities('1Gi', '1073741824')).toBe(0);
  expect(compareQuantities('999m', '1')).toBe(-1);
  expect(compareQuantities('1G', '1Gi')).toBe(-1);
  expect(compareQuantities('-1', '-2')).toBe(1);
  expect(parseQuantity('500m').add(parseQuantity('0.5')).toString()).toBe('1');
  expect(parseQuantity('1Gi').add(parseQuantity('512Mi')).toString()).toBe('1536Mi');
  expect(parseQuantity('0').add(parseQuantity('1Gi')).toString()).toBe('1Gi');
  expect(parseQuantity('1Gi').add(parseQuantity('1G')).toString()).toBe('2073741824');
  expect(parseQuantity('1').sub(parseQuantity('1500m')).toString()).toBe('-500m');
  expect(quantityOf(2048, 'binary').toString()).toBe('2Ki');
  expect(milliQuantity(2500).toString()).toBe('2500m');
  expect(parseQuantity('200m').times(5).toString()).toBe('1');
});

test('whole units and thousandths are rounded up', () => {
  expect(parseQuantity('1500m').value()).toBe(2n);
  expect(parseQuantity('1500u').millis()).toBe(2n);
  expect(parseQuantity('-1500m').value()).toBe(-1n);
  expect(parseQuantity('3Ki').value()).toBe(3072n);
  expect(parseQuantity('100u').roundUp(-3).toString()).toBe('1m');
  expect(parseQuantity('-100u').roundUp(-3).toString()).toBe('-1m');
  expect(parseQuantity('1500m').isMultipleOf(0)).toBe(false);
  expect(parseQuantity('1.5k').isMultipleOf(0)).toBe(true);
  expect(parseQuantity('250m').toNumber()).toBeCloseTo(0.25);
});

const anyQuantity = fc
  .record({
    unscaled: fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    scale: fc.integer({ min: -9, max: 20 }),
    format: fc.constantFrom('decimal' as const, 'binary' as const, 'exponent' as const),
  })
  .map(({ unscaled, scale, format }) => new Quantity(unscaled, scale, format));
const anyText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.bigInt({ min: 0n, max: 10n ** 17n }),
    fc.option(fc.stringMatching(/^[0-9]{0,12}$/)),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2', 'e+5'),
  )
  .map(([sign, whole, fraction, unit]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${unit}`);

test('a printed amount is read as the same amount, and printing it again changes nothing', () => {
  fc.assert(
    fc.property(anyQuantity, (q) => {
      // Binary amounts are capped at 64 bits when they are read.
      fc.pre(q.format !== 'binary' || (q.value() < 2n ** 63n && q.value() > -(2n ** 63n)));
      const text = q.toString();
      expect(parseQuantity(text).compare(q)).toBe(0);
      // A binary amount that is no multiple of 1024 has no suffix to tell its family by, and is read as decimal.
      if (q.format !== 'binary') expect(canonicalQuantity(text)).toBe(text);
    }),
  );
});

test('the canonical text of any text is canonical and means the same', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const canonical = canonicalQuantity(text);
      expect(canonicalQuantity(canonical)).toBe(canonical);
      expect(compareQuantities(text, canonical)).toBe(0);
    }),
  );
});

test('sums do not depend on the order, differences undo them', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, (a, b) => {
      expect(a.add(b).equals(b.add(a))).toBe(true);
      expect(a.add(b).sub(b).equals(a)).toBe(true);
      expect(a.compare(b)).toBe(-b.compare(a) || 0);
      expect(a.compare(b)).toBe(a.sub(b).sign);
    }),
  );
});

test('no text makes the reader fail in any other way than with its own error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.eEinumkKMGTP]{0,30}$/)), (text) => {
      try {
        parseQuantity(text).toString();
      } catch (error) {
        expect(error).toBeInstanceOf(QuantityError);
      }
    }),
  );
});
