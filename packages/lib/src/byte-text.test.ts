import { expect, test } from 'vitest';
import { bytesOf, hasBytes, textOf } from './byte-text.ts';

test.each([
  ['plain', Buffer.from('plain')],
  ['Unicode of two to four bytes', Buffer.from('aé€😀z')],
  ['no UTF-8 at all', Buffer.from([0x80, 0xff, 0xc3])],
  ['a character that is cut off', Buffer.from([0x61, 0xe2, 0x82, 0x62])],
  ['bytes between characters', Buffer.concat([Buffer.from('€'), Buffer.from([0xfe]), Buffer.from('😀')])],
])('%s keeps its bytes', (_, bytes) => {
  expect(bytesOf(textOf(bytes))).toEqual(bytes);
});

test('only bytes that are not UTF-8 count as such', () => {
  expect(hasBytes('a😀')).toBe(false);
  expect(hasBytes(textOf(Buffer.from([0x61, 0xff])))).toBe(true);
  expect(textOf(Buffer.from([0x61, 0xff]))).toBe('a\udcff');
});
