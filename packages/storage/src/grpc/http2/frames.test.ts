import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { DATA, FrameReader, frame, HEADERS, LARGEST_FRAME, PADDED, PRIORITY, unpadded } from './frames.ts';

test('frames come out whole, however the stream is cut', () => {
  const type = fc.nat(9);
  const frames = fc.array(fc.tuple(type, fc.nat(255), fc.nat(2 ** 31 - 1), fc.uint8Array({ maxLength: 50 })), { maxLength: 5 });
  fc.assert(
    fc.property(frames, fc.array(fc.nat(40)), (given, sizes) => {
      const bytes = Buffer.concat(given.map(([kind, flags, stream, payload]) => frame(kind, flags, stream, Buffer.from(payload))));
      const found: unknown[] = [];
      const reader = new FrameReader((kind, flags, stream, payload) => found.push([kind, flags, stream, [...payload]]));
      let at = 0;
      for (const size of sizes) {
        reader.push(bytes.subarray(at, at + size));
        at = Math.min(bytes.length, at + size);
      }
      reader.push(bytes.subarray(at));
      expect(found).toEqual(given.map(([kind, flags, stream, payload]) => [kind, flags, stream, [...payload]]));
    }),
  );
});

test('the largest frame is read, a larger one is refused by its head', () => {
  let length = 0;
  const reader = new FrameReader((_type, _flags, _stream, payload) => {
    length = payload.length;
  });
  reader.push(frame(DATA, 0, 1, Buffer.alloc(LARGEST_FRAME)));
  expect(length).toBe(LARGEST_FRAME);
  expect(() => reader.push(frame(DATA, 0, 1, Buffer.alloc(LARGEST_FRAME + 1)).subarray(0, 9))).toThrow('larger than');
});

test('padding and priority are left out', () => {
  const body = Buffer.from('abc');
  expect(unpadded(0, body, false)).toBe(body);
  expect(unpadded(PADDED, Buffer.from('\x02abc\0\0'), false).toString()).toBe('abc');
  expect(unpadded(PRIORITY, Buffer.from('\0\0\0\0\x10abc'), true).toString()).toBe('abc');
  expect(unpadded(PADDED | PRIORITY, Buffer.from('\x01\0\0\0\0\x10abc\0'), true).toString()).toBe('abc');
  expect(() => unpadded(PADDED, Buffer.from('\x09abc'), false)).toThrow('shorter than its padding');
  expect(() => unpadded(PRIORITY, Buffer.alloc(2), true)).toThrow('shorter');
  expect(HEADERS).toBe(1);
});
