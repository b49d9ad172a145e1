/** Values of expressions as JSON. */
import { setOwn } from '@plat-dev/lib/own';
import { durationText, timestampText } from './functions/time-text.ts';
import { type CelMap, ConstructedObject, Double, Duration, isMap, keysOf, lookUp, Optional, Timestamp, UInt } from './values.ts';

type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Longest text of a value, about; parts that a value holds several times count as often. */
const MAX_CHARACTERS = 3 * 1024 * 1024;

/** Undefined: the value is too large, or has no JSON form, such as a type, or holds one that has none. */
export function jsonOf(value: unknown): Json | undefined {
  return new JsonMaker().make(value);
}

class JsonMaker {
  private left = MAX_CHARACTERS;

  make(value: unknown): Json | undefined {
    this.left -= typeof value === 'string' ? value.length + 2 : 2;
    if (this.left < 0) return undefined;
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'number':
      case 'bigint':
        return value;
    }
    if (value === null) return null;
    if (value instanceof UInt || value instanceof Double) return value.value;
    if (value instanceof Timestamp) return timestampText(value);
    if (value instanceof Duration) return durationText(value);
    if (value instanceof Uint8Array) return this.make(Buffer.from(value).toString('base64'));
    if (value instanceof Optional) return value.present ? this.make(value.value) : null;
    if (Array.isArray(value)) return this.list(value);
    if (value instanceof ConstructedObject) return this.object(value.fields);
    return isMap(value) ? this.object(entriesOf(value)) : undefined;
  }

  private list(list: readonly unknown[]): Json | undefined {
    const items: Json[] = [];
    for (const one of list) {
      const item = this.make(one);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }
  private object(entries: Iterable<readonly [unknown, unknown]>): Json | undefined {
    const object: { [key: string]: Json } = {};
    for (const [key, one] of entries) {
      const name = typeof key === 'object' ? undefined : this.make(String(key));
      const value = this.make(one);
      if (value === undefined || name === undefined) return undefined;
      setOwn(object, name as string, value);
    }
    return object;
  }
}

function* entriesOf(map: CelMap | Readonly<Record<string, unknown>>): Generator<[unknown, unknown]> {
  for (const key of keysOf(map)) yield [key, lookUp(map, key)];
}
