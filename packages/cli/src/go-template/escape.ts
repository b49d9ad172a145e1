/** The functions `html`, `js` and `urlquery` of templates. */

import { bytesOf } from '@plat-dev/lib/byte-text';
import { own } from '@plat-dev/lib/own';

const html: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};
export const escapeHtml = (text: string): string => text.replace(/[\0"'&<>]/g, (c) => own(html, c) as string);

const js: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced.
const jsSpecial = /[\u0000-\u001f\\'"<>&=]|[^\u0000-\u007f]/gu;
export const escapeJs = (text: string): string =>
  text.replace(jsSpecial, (c) => {
    const escaped = own(js, c);
    if (escaped !== undefined) return escaped;
    if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(c)) return c;
    return `\\u${(c.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;
  });

/** As in the query of an address: a space becomes +. */
export function escapeQuery(text: string): string {
  let out = '';
  for (const byte of bytesOf(text)) {
    const c = String.fromCharCode(byte);
    if (/[\w.~-]/.test(c)) out += c;
    else out += c === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
