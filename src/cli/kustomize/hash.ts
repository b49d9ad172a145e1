/** The hash in the names of generated config maps and secrets: that of the stock client, so that names are the same. */
import { createHash } from 'node:crypto';
import { goJson } from '../../lib/go-json.ts';
import type { JsonObject, JsonValue } from '../../schema/types.ts';
import { isMap } from './resource.ts';

/** Ten letters and digits for the content of a config map or secret. Its name does not count: the stock client hashes an empty one. */
export function contentHash(object: JsonObject): string {
  const map = (value: JsonValue | undefined): JsonValue => (isMap(value) ? value : '');
  const content: JsonObject =
    object.kind === 'Secret'
      ? { data: map(object.data), kind: 'Secret', name: '', type: object.type ?? '' }
      : { data: map(object.data), kind: 'ConfigMap', name: '' };
  const more = object.kind === 'Secret' ? 'stringData' : 'binaryData';
  if (isMap(object[more])) content[more] = object[more];
  const hex = createHash('sha256').update(encoded(content)).digest('hex').slice(0, 10);
  return hex.replace(/[013ae]/g, (letter) => letters[letter] as string);
}
/** Vowels and digits that look like them make words. */
const letters: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

/** Go wrote these characters by their number when the stock client was made. */
const encoded = (value: JsonValue): string =>
  goJson(value).replace(/\\(\\|[bf])/g, (all, c: string) => (c === 'b' ? '\\u0008' : c === 'f' ? '\\u000c' : all));
