/** Text that is not UTF-8: refused rather than stored with replacement characters, which cannot be converted back. */
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError } from './errors.ts';
import type { JsonObject, JsonValue } from './types.ts';

export interface TextPlace {
  /** `spec.containers[0].name`; of a key, the path of the object that has it. */
  readonly path: string;
  readonly isKey: boolean;
}

export class NotUtf8 extends DecodeError {
  /** Without a place, who reads the object may name it. */
  constructor(place?: TextPlace) {
    const { path = '', isKey = false } = place ?? {};
    const where = isKey ? (path === '' ? 'a key: ' : `a key of ${path}: `) : path === '' ? '' : `${path}: `;
    super(`${where}the text is not valid UTF-8; send text as UTF-8, and other bytes as base64 in a field that holds bytes`, { path });
  }
}

/** The first place of text that `foreign` recognizes. */
export function* placeOfText(value: JsonValue, foreign: (text: string) => boolean): Work<TextPlace | undefined> {
  const search = { path: [], foreign, visited: 0 };
  const part = yield* findForeign(value, search);
  return part === undefined ? undefined : { path: search.path.join('').replace(/^\./, ''), isKey: part === 'key' };
}

interface Search {
  /** The parts of the path to the value that is looked at: `.spec`, `[0]`. */
  readonly path: string[];
  readonly foreign: (text: string) => boolean;
  visited: number;
}
/** Values after which the search yields; a power of two. */
const VALUES_A_STEP = 1024;

function* findForeign(value: JsonValue, search: Search): Work<'key' | 'value' | undefined> {
  if (typeof value === 'string') return search.foreign(value) ? 'value' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const { length } = keys ?? (value as JsonValue[]);
  for (let i = 0; i < length; i++) {
    if ((++search.visited & (VALUES_A_STEP - 1)) === 0) yield;
    const key = keys?.[i] ?? '';
    if (search.foreign(key)) return 'key';
    search.path.push(keys === undefined ? `[${i}]` : `.${key}`);
    const part = yield* findForeign((keys === undefined ? (value as JsonValue[])[i] : own(value as JsonObject, key)) as JsonValue, search);
    if (part !== undefined) return part;
    search.path.pop();
  }
  return undefined;
}
