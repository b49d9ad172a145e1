/**
 * Names of properties as expressions spell them: characters that no identifier has, and words of the language, are escaped.
 *
 *   celName('replicas') → 'replicas'       celName('x-prop') → 'x__dash__prop'     celName('a.b/c') → 'a__dot__b__slash__c'
 *   celName('namespace') → '__namespace__' celName('a__b') → 'a__underscores__b'   celName('3d'), celName('a b') → undefined
 */
import { own } from '@plat-dev/lib/own';

const reserved = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let'],
  ...['loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);
const escapable = /^[A-Za-z_./-][A-Za-z0-9_./-]*$/;
const escapes: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** Undefined for a property that no expression can name. */
export function celName(property: string): string | undefined {
  if (reserved.has(property)) return `__${property}__`;
  if (!escapable.test(property)) return undefined;
  return property.replace(/__|[./-]/g, (part) => own(escapes, part) as string);
}
