import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { poly1305 } from './poly1305.ts';
import { SecretBox } from './secretbox.ts';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

function authenticator(key: Buffer, data: Buffer): string {
  const out = Buffer.alloc(16);
  poly1305(key, data, 0, data.length, out, 0);
  return out.toString('hex');
}

/** RFC 8439: the example of section 2.5.2, and of appendix A.3 those at the bounds of the arithmetic. */
describe('poly1305 makes what the RFC prints', () => {
  const zeros = '00000000000000000000000000000000';
  test.each([
    [
      '85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b',
      Buffer.from('Cryptographic Forum Research Group').toString('hex'),
      'a8061dc1305136c6c22b8baf0c0127a9',
    ],
    [zeros + zeros, zeros + zeros + zeros + zeros, zeros],
    [`02${zeros.slice(2)}${zeros}`, 'ffffffffffffffffffffffffffffffff', `03${zeros.slice(2)}`],
    [`02${zeros.slice(2)}ffffffffffffffffffffffffffffffff`, `02${zeros.slice(2)}`, `03${zeros.slice(2)}`],
    [
      `01${zeros.slice(2)}${zeros}`,
      'fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff11000000000000000000000000000000',
      `05${zeros.slice(2)}`,
    ],
    [
      `01${zeros.slice(2)}${zeros}`,
      'fffffffffffffffffffffffffffffffffbfefefefefefefefefefefefefefefe01010101010101010101010101010101',
      zeros,
    ],
    [`02${zeros.slice(2)}${zeros}`, 'fdffffffffffffffffffffffffffffff', 'faffffffffffffffffffffffffffffff'],
    [
      `01000000000000000400000000000000${zeros}`,
      'e33594d7505e43b900000000000000003394d7505e4379cd01000000000000000000000000000000000000000000000001000000000000000000000000000000',
      '14000000000000005500000000000000',
    ],
    [
      `01000000000000000400000000000000${zeros}`,
      'e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000',
      `13${zeros.slice(2)}`,
    ],
  ])('under %s', (key, data, tag) => {
    expect(authenticator(hex(key), hex(data))).toBe(tag);
  });
});

/** `tests/secretbox.c` of NaCl. */
const naclKey = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const naclNonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const naclMessage = hex(`
  be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864
  5e0705`);
const naclBox = `
  f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3
  7973f622a43d14a6599b1f654cb45a74e355a5`;

test("secretbox makes and opens NaCl's own box", () => {
  const box = new SecretBox(naclKey);
  expect(box.seal(naclMessage, naclNonce).toString('hex')).toBe(naclBox.replace(/\s/g, ''));
  expect(box.open(hex(naclBox), naclNonce)?.equals(naclMessage)).toBe(true);
});

test('a box opens under its own key and nonce alone, and only as a whole', () => {
  const box = new SecretBox(naclKey);
  const sealed = box.seal(naclMessage, naclNonce);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(box.open(changed, naclNonce)).toBeUndefined();
  }
  expect(box.open(sealed.subarray(0, -1), naclNonce)).toBeUndefined();
  expect(box.open(sealed.subarray(0, 15), naclNonce)).toBeUndefined();
  expect(box.open(sealed, Buffer.alloc(24))).toBeUndefined();
  expect(new SecretBox(Buffer.alloc(32)).open(sealed, naclNonce)).toBeUndefined();
});

test('keys and nonces of other sizes are refused', () => {
  expect(() => new SecretBox(Buffer.alloc(31))).toThrow('32 bytes');
  expect(() => new SecretBox(naclKey).seal(naclMessage, Buffer.alloc(8))).toThrow('24 bytes');
});

/** libsodium, called through Python, seals random messages of every length around the blocks. */
const script = `
import ctypes, sys
sodium = ctypes.CDLL('libsodium.so.23')
for line in sys.stdin:
    key, nonce, message = (bytes.fromhex(part) for part in line.rstrip('\\n').split(' '))
    out = ctypes.create_string_buffer(len(message) + 16)
    sodium.crypto_secretbox_easy(out, message, ctypes.c_ulonglong(len(message)), nonce, key)
    print(out.raw.hex())
`;
function sealedBySodium(lines: readonly string[]): string[] | undefined {
  try {
    return execFileSync('python3', ['-c', script], { input: lines.map((line) => `${line}\n`).join(''), stdio: ['pipe', 'pipe', 'ignore'] })
      .toString()
      .trimEnd()
      .split('\n');
  } catch {
    return undefined;
  }
}
const lengths = [0, 1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 1000, 4096, 100_001];
const samples = lengths.map((length) => [randomBytes(32), randomBytes(24), randomBytes(length)] as const);
const foreign = sealedBySodium(samples.map((parts) => parts.map((part) => part.toString('hex')).join(' ')));

test.skipIf(foreign === undefined)(`the same boxes as libsodium${foreign === undefined ? ' (skipped: it is not here)' : ''}`, () => {
  samples.forEach(([key, nonce, message], i) => {
    const box = new SecretBox(key);
    expect(box.seal(message, nonce).toString('hex')).toBe(foreign?.[i]);
    expect(box.open(hex(foreign?.[i] as string), nonce)?.equals(message)).toBe(true);
  });
});
