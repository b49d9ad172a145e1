/** The name under which a writer owns fields: the one it gives, or the beginning of its user agent. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors } from '@plat-dev/meta/field';
import { Path } from '@plat-dev/meta/field';

const MAX_BYTES = 128;
/** Letters, marks, numbers, punctuation, symbols and the plain space: what the stock server calls printable. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** `painter/v2 (linux)` → `painter`. Unprintable characters are left out, and a long name is cut. */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager;
  const agent = userAgent ?? '';
  const slash = agent.indexOf('/');
  const head = slash < 0 ? agent : agent.slice(0, slash);
  if (plain.test(head)) return head;
  let name = '';
  let bytes = 0;
  for (const char of head) {
    if (!printable.test(char)) continue;
    bytes += Buffer.byteLength(char);
    if (bytes > MAX_BYTES) break;
    name += char;
  }
  return name === '' ? 'unknown' : name;
}
const plain = /^[\x20-\x7e]{1,128}$/;

/** Validates a `fieldManager` parameter. `required`: the request is an apply. */
export function validateFieldManager(fieldManager: string | undefined, required: boolean, errors: FieldErrors): void {
  const path = Path.of('fieldManager');
  if (fieldManager === undefined || fieldManager === '') {
    if (required) errors.required(path, 'is required for apply patch');
    return;
  }
  if (plain.test(fieldManager)) return;
  if (Buffer.byteLength(fieldManager) > MAX_BYTES) errors.tooLong(path, MAX_BYTES);
  let position = 0;
  for (const char of fieldManager) {
    if (!printable.test(char)) {
      const code = (char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
      errors.add(
        'FieldValueInvalid',
        path,
        `Invalid value: ${quoted(fieldManager)}: invalid character U+${code} (at position ${position})`,
      );
    }
    position += Buffer.byteLength(char);
  }
}

const managersByProgram: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};
/** Quoted text with unprintable characters escaped. */
function quoted(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    out +=
      own(managersByProgram, char) ??
      (printable.test(char)
        ? char
        : code < 0x80
          ? `\\x${code.toString(16).padStart(2, '0')}`
          : code < 0x10000
            ? `\\u${code.toString(16).padStart(4, '0')}`
            : `\\U${code.toString(16).padStart(8, '0')}`);
  }
  return `${out}"`;
}
