/** The hash in the names of generated config maps and secrets: that of the stock client, so that names are the same. */
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { contentSuffix } from '../create/name-hash.ts';
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
  return contentSuffix(content);
}
