import { createCipheriv } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { seededRandom } from '../random.ts';
import { testSeed } from '../seed.testing.ts';
import { GCM_TAG, GcmSealer, LONGEST_MESSAGE, LONGEST_PLACE } from './gcm.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const sealerOf = (secret: Buffer): GcmSealer => {
  const sealer = GcmSealer.of(secret);
  if (sealer === undefined) throw new Error('assembled code cannot run here');
  return sealer;
};
const sealed = (sealer: GcmSealer, nonce: Buffer, message: Buffer, place: Buffer): string => {
  const out = Buffer.alloc(message.length + GCM_TAG);
  sealer.seal(out, 0, message, nonce, place.toString('latin1'));
  return out.toString('hex');
};

/** The test cases of the specification that McGrew and Viega gave to NIST, by their numbers. */
describe('AES-GCM makes what its specification prints', () => {
  const key = 'feffe9928665731c6d6a8f9467308308';
  const nonce = 'cafebabefacedbaddecaf888';
  const place = 'feedfacedeadbeeffeedfacedeadbeefabaddad2';
  const message =
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39';
  const zeros = '0'.repeat(32);
  test.each([
    [1, zeros, '0'.repeat(24), '', '', '', '58e2fccefa7e3061367f1d57a4e7455a'],
    [2, zeros, '0'.repeat(24), zeros, '', '0388dace60b6a392f328c2b971b2fe78', 'ab6e47d42cec13bdf53a67b21257bddf'],
    [
      3,
      key,
      nonce,
      `${message}1aafd255`,
      '',
      '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985',
      '4d5c2af327cd64a62cf35abd2ba6fab4',
    ],
    [
      4,
      key,
      nonce,
      message,
      place,
      '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091',
      '5bc94fbc3221a5db94fae95ae7121a47',
    ],
    [
      10,
      key + key.slice(0, 16),
      nonce,
      message,
      place,
      '3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710',
      '2519498e80f1478f37ba55bd6d27618c',
    ],
    [13, zeros + zeros, '0'.repeat(24), '', '', '', '530f8afbc74536b9a963b4f1c4cb738b'],
    [14, zeros + zeros, '0'.repeat(24), zeros, '', 'cea7403d4d606b6e074ec5d3baf39d18', 'd0d1c8a799996bf0265b98b5d48ab919'],
    [
      16,
      key + key,
      nonce,
      message,
      place,
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662',
      '76fc6ece0f4e1768cddf8853bb2d551b',
    ],
  ])('case %i', (_, secret, number, plain, data, cipher, tag) => {
    expect(sealed(sealerOf(hex(secret)), hex(number), hex(plain), hex(data))).toBe(cipher + tag);
  });
});

test.each([16, 24, 32])('the same as the cipher of Node under keys of %i bytes, one message after another', (size) => {
  const random = seededRandom(testSeed + size);
  const secret = random.bytes(size);
  const sealer = sealerOf(secret);
  const lengths = [...Array.from({ length: 70 }, (_, i) => i), 1000, 1023, 1024, 1025, LONGEST_MESSAGE - 1, LONGEST_MESSAGE, 5, 0];
  for (const [i, length] of lengths.entries()) {
    const [nonce, message, place] = [
      random.bytes(12),
      random.bytes(length),
      random.bytes([0, 1, 15, 16, 17, 40, LONGEST_PLACE][i % 7] as number),
    ];
    const cipher = createCipheriv(`aes-${size * 8}-gcm` as 'aes-256-gcm', secret, nonce).setAAD(place);
    const expected = Buffer.concat([cipher.update(message), cipher.final(), cipher.getAuthTag()]).toString('hex');
    expect(sealed(sealer, nonce, message, place)).toBe(expected);
  }
});

test('only the message and its tag are written', () => {
  const random = seededRandom(1);
  const out = Buffer.alloc(100, 0xaa);
  sealerOf(random.bytes(32)).seal(out, 20, random.bytes(21), random.bytes(12), 'place');
  expect(out.subarray(0, 20).equals(Buffer.alloc(20, 0xaa))).toBe(true);
  expect(out.subarray(20 + 21 + GCM_TAG).equals(Buffer.alloc(100 - 57, 0xaa))).toBe(true);
});

test('longer messages and places are refused', () => {
  const sealer = sealerOf(Buffer.alloc(32));
  const seal = (length: number, place: number) => () =>
    sealer.seal(Buffer.alloc(length + GCM_TAG), 0, Buffer.alloc(length), Buffer.alloc(12), 'x'.repeat(place));
  expect(seal(LONGEST_MESSAGE + 1, 0)).toThrow('too long');
  expect(seal(0, LONGEST_PLACE + 1)).toThrow('too long');
  expect(seal(LONGEST_MESSAGE, LONGEST_PLACE)).not.toThrow();
});

afterEach(() => vi.unstubAllGlobals());
test('there is none where assembled code cannot run', () => {
  vi.stubGlobal('WebAssembly', undefined);
  expect(GcmSealer.of(Buffer.alloc(32))).toBeUndefined();
});
