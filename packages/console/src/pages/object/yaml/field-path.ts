/** Fields as causes of the server name them: `spec.containers[0].image`, `metadata.labels[a.b/c]`, `data[key]`. */
import type { FieldPath } from '../openapi/schema.ts';

const part = /\[("?)([^\]]*?)\1\]|([^.[\]]+)/g;

export function parseField(field: string): FieldPath {
  return [...field.matchAll(part)].map(([, , inBrackets, name]) => {
    if (name !== undefined) return name;
    return /^\d+$/.test(inBrackets ?? '') ? Number(inBrackets) : (inBrackets ?? '');
  });
}

/** `spec.containers[0].image`; names with other characters than letters and digits stand in brackets. */
export function fieldText(path: FieldPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    if (!/^[\w-]+$/.test(key)) return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** What a strict server says of unknown and repeated fields: `unknown field "spec.foo"`. */
const strictFault = /(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g;

/** The fields that a message names which has no causes. */
export function fieldsOfMessage(message: string): { readonly path: FieldPath; readonly message: string }[] {
  return [...message.matchAll(strictFault)].map(([whole, , field = '']) => ({ path: parseField(field), message: whole }));
}
