import { expect, test } from 'vitest';
import { joined, type TextBytes, textBytes, WebBytes } from './text-bytes.ts';

/** Text with a mark at its beginning, letters of two to four bytes, and a byte that is no UTF-8. */
const bytes = Uint8Array.from([...Buffer.from('\ufeff{"é":"€","😀":[1,2]}'), 0xff]);

test.each<[string, (text: TextBytes) => unknown]>([
  ['the whole text', (text) => text.toString()],
  ['a part of it', (text) => text.toString('utf8', 3, 10)],
  ['from a place on', (text) => text.toString('utf8', 5)],
  ['the text of a part', (text) => text.subarray(4, 9).toString()],
  ['a text within it', (text) => [text.includes('"€"'), text.includes('"$"'), text.includes('{', 4)]],
  ['bytes within it', (text) => [text.includes(Buffer.from('😀')), text.includes(0xff), text.includes(0xfe)]],
  ['the place of a byte', (text) => [text.indexOf(0x22), text.indexOf(0x22, 7)]],
])('bytes of the web read as those of a Buffer: %s', (_name, read) => {
  expect(read(new WebBytes(bytes.buffer))).toEqual(read(Buffer.from(bytes)));
});

test('bytes are a Buffer where there is one, and share its memory', () => {
  const part = textBytes(bytes.subarray(3, 9));
  expect(part).toBeInstanceOf(Buffer);
  expect([part.buffer, part.toString()]).toEqual([bytes.buffer, '{"é":']);
});

test('joined bytes are the text of both, though a letter is cut in two', () => {
  expect(joined([bytes.subarray(3, 6), bytes.subarray(6, 9)]).toString()).toBe('{"é":');
});
