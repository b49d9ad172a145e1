/**
 * Texts that may hold bytes that are not UTF-8, such as a decoded secret: each such byte stands in the text as one code unit of
 * U+DC80 to U+DCFF, which no text of Unicode has alone.
 *
 *   textOf(Buffer.from([0x61, 0xff])) → 'a\udcff'      bytesOf('a\udcff') → 61 ff
 */
import { isUtf8 } from 'node:buffer';

const loneByte = /[\udc80-\udcff]/u;
const loneBytes = /([\udc80-\udcff])/u;

/** Whether a text holds bytes that are not UTF-8. */
export const hasBytes = (text: string): boolean => loneByte.test(text);

export function bytesOf(text: string): Buffer {
  if (!hasBytes(text)) return Buffer.from(text);
  return Buffer.concat(
    text.split(loneBytes).map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from([part.charCodeAt(0) - 0xdc00]))),
  );
}

export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    const character = bytes.subarray(at, at + length);
    if (character.length === length && isUtf8(character)) {
      parts.push(character.toString());
      at += length;
    } else {
      parts.push(String.fromCharCode(0xdc00 + first));
      at++;
    }
  }
  return parts.join('');
}
