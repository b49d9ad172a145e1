import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { keepable, Reader, Writer } from './wire.ts';

test('the bytes are those of the protobuf specification', () => {
  const writer = new Writer(1);
  const end = writer.position;
  writer.text(2, 'testing');
  writer.number(1, 150);
  writer.nested(3, end);
  // Examples of the protobuf documentation: 08 96 01 is field 1 = 150, 12 07 "testing" is field 2.
  expect(writer.finish().toString('hex')).toBe('1a0c089601120774657374696e67');
});

test('a number up to 2^53 comes back as it was', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      const writer = new Writer(4);
      writer.number(5, value);
      const reader = new Reader(writer.finish());
      expect([reader.next(), reader.number(), reader.next()]).toEqual([5, value, 0]);
    }),
  );
});

test('numbers at the edges of their encoding', () => {
  for (let bits = 0; bits < 53; bits++) {
    for (const value of [2 ** bits - 1, 2 ** bits]) {
      const writer = new Writer(16);
      writer.number(1, value);
      const reader = new Reader(writer.finish());
      reader.next();
      expect(reader.number()).toBe(value);
    }
  }
});

test('negative numbers and 64-bit identifiers are read exactly', () => {
  for (const value of [-1n, 0n, 1n, 2n ** 62n + 7n, -(2n ** 63n)]) {
    const writer = new Writer(16);
    writer.number(1, value);
    const bytes = writer.finish();
    const exact = new Reader(bytes);
    exact.next();
    expect(exact.identifier()).toBe(value);
  }
  const minusOne = new Reader(Buffer.from('08ffffffffffffffffff01', 'hex'));
  minusOne.next();
  expect(minusOne.number()).toBe(-1);
});

test('unknown fields of every wire type are stepped over', () => {
  const reader = new Reader(Buffer.from('0801' + '110000000000000000' + '1a0161' + '2500000000' + '3007', 'hex'));
  for (const field of [1, 2, 3, 4]) {
    expect(reader.next()).toBe(field);
    reader.skip();
  }
  expect([reader.next(), reader.number(), reader.next()]).toEqual([6, 7, 0]);
});

test('bytes that are no message are refused, never read past their end', () => {
  for (const hex of ['08', '0aff', '0a05616263', '0880808080808080808080808001', '0b', '1100']) {
    const reader = new Reader(Buffer.from(hex, 'hex'));
    expect(() => {
      reader.next();
      reader.skip();
    }, hex).toThrow(RangeError);
  }
});

test('a small part of a large message is copied, so that it does not keep the message', () => {
  const message = Buffer.alloc(1_000, 1);
  const small = keepable(message, 10, 20);
  const large = keepable(message, 10, 900);
  message.fill(2);
  expect([small[0], large[0]]).toEqual([1, 2]);
});

test('a message that is a small part of what was read is copied too', () => {
  const read = Buffer.from(new ArrayBuffer(1_000)).fill(1);
  const value = keepable(read.subarray(100, 200), 10, 100);
  read.fill(2);
  expect([value.length, value[0]]).toEqual([90, 1]);
});
