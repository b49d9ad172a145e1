import { randomBytes } from 'node:crypto';
import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32, crc32InScript, flippedBit, WHOLE } from './crc32.ts';

test('the sum is that of everybody else, in script too', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  expect(crc32InScript(Buffer.from('123456789'))).toBe(0xcbf43926);
  const bytes = randomBytes(1000);
  expect(crc32InScript(bytes)).toBe((zlib as unknown as { crc32: typeof crc32 }).crc32(bytes));
  expect(crc32InScript(bytes.subarray(400), crc32InScript(bytes.subarray(0, 400)))).toBe(crc32(bytes));
});

test('bytes that end with their sum have a sum that is known', () => {
  for (const length of [0, 1, 7, 500]) {
    const bytes = randomBytes(length + 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
    expect(crc32(bytes)).toBe(WHOLE);
  }
});

test('a flipped bit is found again', () => {
  const bytes = randomBytes(100);
  const sum = crc32(bytes);
  for (let bit = 0; bit < 800; bit++) {
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(flippedBit(bytes.length, sum, crc32(bytes))).toBe(bit);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  }
  expect(flippedBit(bytes.length, sum, sum)).toBeUndefined();
  expect(flippedBit(bytes.length, sum, crc32(Buffer.concat([bytes.subarray(0, 50), Buffer.alloc(50)])))).toBeUndefined();
});
