/** Headers as they are compressed, with the bytes of the examples in RFC 7541, appendix C. */

import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { HeaderDecoder, TABLE_BYTES } from './header-decoder.ts';
import { HeaderEncoder } from './header-encoder.ts';
import { STATIC_TABLE } from './static-table.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
function decode(decoder: HeaderDecoder, block: Buffer): [string, string][] {
  const found: [string, string][] = [];
  decoder.decode(block, (name, value) => found.push([name, value]));
  return found;
}

test('requests one after the other on a connection, as text and in Huffman code (C.3, C.4)', () => {
  const asText = [
    '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
    '8286 84be 5808 6e6f 2d63 6163 6865',
    '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
  ];
  const coded = [
    '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
    '8286 84be 5886 a8eb 1064 9cbf',
    '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
  ];
  for (const blocks of [asText, coded]) {
    const decoder = new HeaderDecoder();
    const [first, second, third] = blocks.map((block) => decode(decoder, bytes(block)));
    const same = [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ];
    expect(first).toEqual(same);
    expect(second).toEqual([...same, ['cache-control', 'no-cache']]);
    expect(third).toEqual([
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ]);
  }
});

test('responses in a small table, from which older headers are removed (C.6)', () => {
  const decoder = new HeaderDecoder();
  // The table has 256 bytes.
  decode(decoder, bytes('3fe101'));
  const date = 'Mon, 21 Oct 2013 20:13:21 GMT';
  const location = 'https://www.example.com';
  const first = bytes(
    '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
  );
  expect(decode(decoder, first)).toEqual([
    [':status', '302'],
    ['cache-control', 'private'],
    ['date', date],
    ['location', location],
  ]);
  expect(decode(decoder, bytes('4883 640e ffc1 c0bf'))).toEqual([
    [':status', '307'],
    ['cache-control', 'private'],
    ['date', date],
    ['location', location],
  ]);
});

test('blocks that are not valid are refused', () => {
  const invalid = {
    'a number that no header has': 'be',
    'the number 0': '80',
    'a name that is cut short': '400a6375',
    'a value that is not there': '400161',
    'a number without an end': 'ffffffffffffffff',
    'a table larger than agreed': '3fe21f',
    'Huffman code that ends within a symbol': '408161fe0161',
    'the end of the string within Huffman code': '4084ffffffff0161',
  };
  for (const [what, block] of Object.entries(invalid)) expect(() => decode(new HeaderDecoder(), bytes(block)), what).toThrow(RangeError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (block) => {
      try {
        decode(new HeaderDecoder(), Buffer.from(block));
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});

test('the static table has 61 headers', () => {
  expect(STATIC_TABLE).toHaveLength(61);
  expect([STATIC_TABLE[7], STATIC_TABLE[30], STATIC_TABLE[60]]).toEqual([
    [':status', '200'],
    ['content-type', ''],
    ['www-authenticate', ''],
  ]);
});

const headersOf = (path: string) =>
  [
    [':method', 'POST'],
    [':path', path],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
  ] as const;

test('repeated headers become numbers, and come back as they were', () => {
  const [encoder, decoder] = [new HeaderEncoder(), new HeaderDecoder()];
  const methods = ['/a/One', '/a/Two'].map(headersOf);
  const sizes: number[] = [];
  for (const [index, headers] of [0, 1, 0, 1, 1, 0].map((method) => [method, methods[method]!] as const)) {
    const timeout = ['grpc-timeout', `${1_000 + index}m`] as const;
    const block = encoder.encode(headers, [timeout]);
    sizes.push(block.length);
    expect(decode(decoder, block)).toEqual([...headers, timeout]);
  }
  expect(sizes[2]).toBeLessThan(30);
  expect(sizes.slice(2)).toEqual(Array(4).fill(sizes[2]));
});

test('headers that do not fit into the table are sent as text', () => {
  const [encoder, decoder] = [new HeaderEncoder(), new HeaderDecoder()];
  for (let round = 0; round < 2; round++) {
    for (let method = 0; method < 100; method++) {
      const headers = headersOf(`/a/${'x'.repeat(100)}${method}`);
      expect(decode(decoder, encoder.encode(headers))).toEqual(headers);
    }
  }
  expect(decode(decoder, encoder.encode([['name', 'x'.repeat(TABLE_BYTES)]]))).toEqual([['name', 'x'.repeat(TABLE_BYTES)]]);
});

test('a server with a smaller table gets text', () => {
  const [encoder, decoder] = [new HeaderEncoder(), new HeaderDecoder()];
  const headers = headersOf('/a/One');
  decode(decoder, encoder.encode(headers));
  encoder.limit(100);
  for (let round = 0; round < 3; round++) {
    const block = encoder.encode(headers);
    // The first block after the change says that the table is empty.
    expect(block[0]).toBe(round === 0 ? 0x20 : 0x83);
    expect(decode(decoder, block)).toEqual(headers);
  }
});
