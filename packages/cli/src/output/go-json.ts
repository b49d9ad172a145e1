import { jsonText } from '@plat-dev/lib/json-text';

/** JSON as Go's encoder writes it: keys in order, and the characters that mean something in HTML escaped. */
import { own } from '@plat-dev/lib/own';

const special: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** `indent`: spaces of a level; without it all is on one line. */
export function goJson(value: unknown, indent = 0): string {
  const parts: string[] = [];
  // An object of JavaScript cannot hold keys such as "10" and "9" in the order of text, so that the text is made here.
  write(value, indent === 0 ? '' : '\n', ' '.repeat(indent), parts);
  return escapedHtml(parts.join(''));
}
/** JSON text with these characters escaped: they occur in texts only. */
export const escapedHtml = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, (c) => own(special, c) as string);

/** `line`: what begins a line of the level; empty if all is on one line. */
function write(value: unknown, line: string, indent: string, parts: string[]): void {
  if (typeof value !== 'object' || value === null) return void parts.push(jsonText(value) ?? 'null');
  const inner = line === '' ? '' : `${line}${indent}`;
  const isList = Array.isArray(value);
  const keys = isList ? [] : sortedKeys(value);
  const count = isList ? value.length : keys.length;
  parts.push(isList ? '[' : '{');
  for (let i = 0; i < count; i++) {
    parts.push(i === 0 ? inner : `,${inner}`);
    if (!isList) parts.push(JSON.stringify(keys[i]), line === '' ? ':' : ': ');
    write(isList ? value[i] : own(value as Record<string, unknown>, keys[i] as string), inner, indent, parts);
  }
  if (count > 0) parts.push(line);
  parts.push(isList ? ']' : '}');
}

/** Keys that have a value, in the order of text. */
export function sortedKeys(value: object): string[] {
  return Object.keys(value)
    .filter((key) => (value as Record<string, unknown>)[key] !== undefined)
    .sort();
}
