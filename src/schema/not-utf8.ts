/** Text that is not UTF-8: refused rather than stored with replacement characters, which cannot be converted back. */
import { DecodeError } from './errors.ts';

/** The error for a value that holds such text, which names its first path. `foreign` recognizes the text. */
export function notUtf8(value: unknown, foreign: (text: string) => boolean): DecodeError {
  const place = find(value, '', foreign);
  const where = place === undefined ? '' : place.isKey ? (place.path === '' ? 'a key: ' : `a key of ${place.path}: `) : `${place.path}: `;
  const message = `${where}the text is not valid UTF-8; send text as UTF-8, and other bytes as base64 in a field that holds bytes`;
  return new DecodeError(message, place === undefined ? {} : { path: place.path });
}

interface Place {
  /** `spec.containers[0].name`; of a key, the path of the object that has it. */
  readonly path: string;
  readonly isKey: boolean;
}

function find(value: unknown, path: string, foreign: (text: string) => boolean): Place | undefined {
  if (typeof value === 'string') return foreign(value) ? { path, isKey: false } : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = find(value[i], `${path}[${i}]`, foreign);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (foreign(key)) return { path, isKey: true };
    const found = find(item, path === '' ? key : `${path}.${key}`, foreign);
    if (found !== undefined) return found;
  }
  return undefined;
}
