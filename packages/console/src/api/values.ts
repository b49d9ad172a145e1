/** Reads parts of objects whose type is not known: what is absent or of another type is undefined or empty. */
import { own } from '@plat-dev/lib/own';

export type Value = unknown;
export type ValueMap = Readonly<Record<string, Value>>;

export const isMap = (value: Value): value is ValueMap => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `valueAt(pod, 'spec', 'containers', 0, 'image')` */
export function valueAt(value: Value, ...path: readonly (string | number)[]): Value {
  let inner = value;
  for (const key of path) {
    if (typeof key === 'number') inner = Array.isArray(inner) ? inner[key] : undefined;
    else inner = isMap(inner) ? own(inner, key) : undefined;
  }
  return inner;
}

/** A text, a number or a boolean as text; anything else is empty. */
export function textAt(value: Value, ...path: readonly (string | number)[]): string {
  const inner = valueAt(value, ...path);
  return typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean' ? String(inner) : '';
}

export function numberAt(value: Value, ...path: readonly (string | number)[]): number | undefined {
  const inner = valueAt(value, ...path);
  return typeof inner === 'number' ? inner : undefined;
}

export function mapAt(value: Value, ...path: readonly (string | number)[]): ValueMap {
  const inner = valueAt(value, ...path);
  return isMap(inner) ? inner : {};
}

export function listAt(value: Value, ...path: readonly (string | number)[]): readonly Value[] {
  const inner = valueAt(value, ...path);
  return Array.isArray(inner) ? inner : [];
}
