/** `--sort-by`: objects in the order of the values of a path. */

import { FlagError } from '@plat-dev/lib/flags';
import { compareNumbers, isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { parseQuantity, QuantityError } from '@plat-dev/lib/quantity';
import { didYouMean } from '@plat-dev/lib/suggest';
import { type JsonPath, JsonPathError, jsonPath } from '@plat-dev/meta/json-path';
import { relaxedPath } from '../output/print-forms.ts';

/** No object has the field. */
export class MissingField extends Error {}

/** Compiles the path. Throws FlagError. */
export function sortPath(pathText: string): JsonPath {
  try {
    return jsonPath(relaxedPath(pathText));
  } catch (error) {
    if (error instanceof JsonPathError) throw new FlagError(`--sort-by: ${error.message}`);
    throw error;
  }
}

/**
 * Entries in the order of the values that the path finds in their objects; those without a value first, equal ones as they were.
 * Throws MissingField if no object has the field, FlagError for a path that is none, and an Error if values cannot be compared.
 */
export function sortedBy<T>(entries: readonly T[], pathText: string, objectOf: (entry: T) => unknown): T[] {
  if (entries.length === 0) return [];
  const path = sortPath(pathText);
  const keyed = entries.map((entry) => ({ entry, value: path(objectOf(entry))[0] }));
  if (keyed.every(({ value }) => value === undefined)) {
    throw new MissingField(
      `couldn't find any field with path "{${relaxedPath(pathText)}}" in the list of objects${hint(pathText, entries.map(objectOf))}`,
    );
  }
  return keyed.sort((a, b) => compare(a.value, b.value, pathText)).map(({ entry }) => entry);
}

function compare(a: unknown, b: unknown, path: string): number {
  if (a === undefined || a === null || b === undefined || b === null) return Number(isValue(a)) - Number(isValue(b));
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (typeof a === 'string' && typeof b === 'string') return quantityOrder(a, b) ?? naturalOrder(a, b);
  throw new Error(`--sort-by ${path}: values must be texts or numbers, and all of them of the same type`);
}
const isValue = (value: unknown): boolean => value !== undefined && value !== null;

/** `100m` comes before `1`, and `9Mi` before `1Gi`; undefined unless both are quantities. */
function quantityOrder(a: string, b: string): number | undefined {
  try {
    return parseQuantity(a).compare(parseQuantity(b));
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Numbers within texts count as such: `pod-9` comes before `pod-10`. */
export function naturalOrder(a: string, b: string): number {
  const [as, bs] = [parts(a), parts(b)];
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const [x, y] = [as[i] as string, bs[i] as string];
    if (x === y) continue;
    if (/^\d/.test(x) && /^\d/.test(y)) {
      const [m, n] = [x.replace(/^0+/, ''), y.replace(/^0+/, '')];
      if (m.length !== n.length) return m.length - n.length;
      if (m !== n) return m < n ? -1 : 1;
      return x.length - y.length;
    }
    return x < y ? -1 : 1;
  }
  return as.length - bs.length;
}
const parts = (text: string): string[] => text.match(/\d+|\D+/g) ?? [];

/** The name that was meant, where a plain path has one that no object has. */
function hint(pathText: string, objects: readonly unknown[]): string {
  let values = objects;
  for (const name of relaxedPath(pathText).replace(/^\./, '').split('.')) {
    if (!/^\w+$/.test(name)) return '';
    const holders = values.filter((value): value is Record<string, unknown> => typeof value === 'object' && value !== null);
    const holdersWithName = holders.filter((value) => Object.hasOwn(value, name));
    if (holdersWithName.length === 0) return didYouMean(name, new Set(holders.flatMap((value) => Object.keys(value))));
    values = holdersWithName.map((value) => own(value, name));
  }
  return '';
}
