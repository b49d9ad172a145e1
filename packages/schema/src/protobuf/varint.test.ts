import { expect, test } from 'vitest';
import { bigVarintBytes, varintSize, writeVarint } from './varint.ts';

/** Bytes as the specification of protobuf writes them, by arithmetic on big numbers alone. */
function expected(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest /= 128n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest % 128n) + 128);
  }
}

const bounds = Array.from({ length: 53 }, (_, bit) => 2 ** (bit + 1)).flatMap((power) => [power - 1, power]);

test('150 is the example of the protobuf documentation', () => {
  const target = new Uint8Array(4);
  expect(writeVarint(target, 1, 150)).toBe(3);
  expect([...target]).toEqual([0, 0x96, 0x01, 0]);
});

test.each([0, 1, ...bounds].filter(Number.isSafeInteger))('%d takes the room it says and no more', (value) => {
  const bytes = expected(BigInt(value));
  const target = new Uint8Array(12).fill(0xee);
  expect(varintSize(value)).toBe(bytes.length);
  expect(writeVarint(target, 1, value)).toBe(1 + bytes.length);
  expect([...target]).toEqual([0xee, ...bytes, ...Array<number>(11 - bytes.length).fill(0xee)]);
  expect(bigVarintBytes(BigInt(value))).toEqual(bytes);
});

test('a negative number takes ten bytes', () => {
  expect(bigVarintBytes(-1n)).toEqual([...Array<number>(9).fill(0xff), 0x01]);
  expect(bigVarintBytes(-(2n ** 63n))).toEqual([...Array<number>(9).fill(0x80), 0x01]);
});
