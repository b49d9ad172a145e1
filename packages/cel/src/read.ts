/** Reads values of the API by their static type: text that stands for a time, a span of time or bytes becomes that. */
import { own } from '@plat-dev/lib/own';
import type { Frame } from './budget.ts';
import { fail } from './errors.ts';
import { readDateOrTime, readDuration } from './functions/time-text.ts';
import type { CelType } from './types.ts';
import { CelMap, ConstructedObject, isMap, keysOf, lookUp } from './values.ts';

export type Reader = (frame: Frame, value: unknown) => unknown;

const ofText =
  (read: (frame: Frame, text: string) => unknown): Reader =>
  (frame, value) =>
    typeof value === 'string' ? read(frame, value) : value;

const readers: Partial<Record<CelType['kind'], Reader>> = {
  timestamp: ofText(readDateOrTime),
  duration: ofText(readDuration),
  bytes: ofText((frame, text) => {
    frame.spendLength(text.length);
    return Buffer.from(text, 'base64');
  }),
};

/** Undefined where a value of the type is read as it is. */
export function readerOf(type: CelType): Reader | undefined {
  if (type.kind !== 'list' && type.kind !== 'map') return readers[type.kind];
  const read = readerOf(type.of);
  if (read === undefined) return undefined;
  return type.kind === 'list' ? (frame, value) => readList(frame, read, value) : (frame, value) => readMap(frame, read, value);
}

function readList(frame: Frame, read: Reader, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  frame.spend(value.length);
  return value.map((item) => read(frame, item));
}
function readMap(frame: Frame, read: Reader, value: unknown): unknown {
  if (!isMap(value)) return value;
  const map = new CelMap();
  for (const key of keysOf(value)) {
    frame.spend(1);
    map.set(key, read(frame, lookUp(value, key)));
  }
  return map;
}

const constructedField = (value: unknown, property: string): unknown =>
  value instanceof ConstructedObject ? value.fields.get(property) : isMap(value) ? lookUp(value, property) : fail('no such overload');

const inherited = new Set<string>(Object.getOwnPropertyNames(Object.prototype));

/** Looks a property up; undefined where there is none. What every object inherits is no property. */
export function propertyReader(property: string, type: CelType): (value: unknown) => unknown {
  if (type.kind === 'object' && type.constructed === true) return (value) => constructedField(value, property);
  if (type.kind === 'object' && !inherited.has(property)) {
    // A field that is null is absent.
    return (value) =>
      typeof value === 'object' && value !== null ? (own(value as Readonly<Record<string, unknown>>, property) ?? undefined) : undefined;
  }
  if (type.kind === 'object') return (value) => (isMap(value) ? (lookUp(value, property) ?? undefined) : undefined);
  return (value) => (isMap(value) ? lookUp(value, property) : fail('no such overload'));
}
