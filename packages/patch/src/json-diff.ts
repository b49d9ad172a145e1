/**
 * The change from one document to another as a JSON patch (RFC 6902).
 *
 *   { a: 1, b: [1, 2] } → { b: [1, 3], c: 1 }
 *   remove /a, replace /b/1 3, add /c 1
 *
 * Items of lists are compared by their place; in lists of different lengths after what both begin and end with.
 */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export type ChangeOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string };

/** Beyond so many operations the whole document is replaced. */
const MAX_OPERATIONS = 1000;
/** Values that are compared between two places to interrupt the work: deep inside a document each of those costs its depth. */
const STEP = 500;

interface Comparison {
  readonly operations: ChangeOperation[];
  compared: number;
}

export function* jsonDiff(from: JsonValue, to: JsonValue): Work<ChangeOperation[]> {
  const comparison: Comparison = { operations: [], compared: 0 };
  yield* compare(from, to, '', comparison);
  const { operations } = comparison;
  return operations.length > MAX_OPERATIONS ? [{ op: 'replace', path: '', value: to }] : operations;
}

function* compare(from: JsonValue, to: JsonValue, path: string, comparison: Comparison): Work<void> {
  if (comparison.operations.length > MAX_OPERATIONS) return;
  if (Array.isArray(from) && Array.isArray(to)) yield* compareLists(from, to, path, comparison);
  else if (isObject(from) && isObject(to)) yield* compareObjects(from, to, path, comparison);
  else if (!equal(from, to)) comparison.operations.push({ op: 'replace', path, value: to });
}

function* compareObjects(from: JsonObject, to: JsonObject, path: string, comparison: Comparison): Work<void> {
  const { operations } = comparison;
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) operations.push({ op: 'remove', path: member(path, key) });
  for (const key of Object.keys(to)) {
    if (++comparison.compared % STEP === 0) yield;
    const [earlier, value] = [own(from, key), to[key] as JsonValue];
    if (earlier === value) continue;
    if (earlier === undefined) operations.push({ op: 'add', path: member(path, key), value });
    else yield* compare(earlier, value, member(path, key), comparison);
  }
}

function* compareLists(from: readonly JsonValue[], to: readonly JsonValue[], path: string, comparison: Comparison): Work<void> {
  const { operations } = comparison;
  // Lists within lists of the same lengths would be read once more at each level, for nothing.
  const shorter = from.length === to.length ? 0 : Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && equal(from[start], to[start])) start++;
  let end = 0;
  while (end < shorter - start && equal(from[from.length - 1 - end], to[to.length - 1 - end])) end++;
  const [removed, added] = [from.length - end, to.length - end];
  const common = Math.min(removed, added);
  for (let i = start; i < common; i++) {
    if (++comparison.compared % STEP === 0) yield;
    if (from[i] !== to[i]) yield* compare(from[i] as JsonValue, to[i] as JsonValue, `${path}/${i}`, comparison);
  }
  // From the last on, so that the places of the others stay.
  for (let i = removed - 1; i >= common; i--) operations.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = common; i < added; i++) operations.push({ op: 'add', path: `${path}/${i}`, value: to[i] as JsonValue });
}

const isObject = (value: JsonValue): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const member = (path: string, key: string): string => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
