/** Merges the documents of aggregated API servers into this server's own. */

import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isObject, type SpecPart, withReferences } from '../../extension/aggregation/spec.ts';
import type { RemoteSpec } from '../../extension/aggregation/specs.ts';
import { binaryOfV3, binaryV2 } from './binary.ts';

/**
 * The paths and definitions to add. Two servers may have different definitions under one name: the later one is renamed, as
 * stock servers do.
 *
 *   ours: A        theirs: A (the same), B → A      adds B → A
 *   ours: A        theirs: A (another), B → A       adds A_v2, B → A_v2
 */
export function* mergedParts(ours: Readonly<Record<string, JsonObject>>, parts: readonly SpecPart[]): Work<SpecPart> {
  const definitionsByName = new Map<string, JsonObject>(Object.entries(ours));
  const paths: [string, JsonValue][] = [];
  const addedDefinitions: [string, JsonObject][] = [];
  for (const part of parts) {
    const names = yield* newNames(definitionsByName, part.definitions);
    const rename = (name: string): string => names.get(name) ?? name;
    for (const [name, definition] of Object.entries(part.definitions)) {
      yield;
      const newName = rename(name);
      if (definitionsByName.has(newName)) continue;
      const changed = (yield* withReferences(definition as JsonValue, rename)) as JsonObject;
      definitionsByName.set(newName, changed);
      addedDefinitions.push([newName, changed]);
    }
    for (const [path, item] of Object.entries(part.paths)) {
      yield;
      paths.push([path, yield* withReferences(item as JsonValue, rename)]);
    }
  }
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(addedDefinitions) };
}

/** The definitions that cannot keep their names. A definition that refers to a renamed one is a different one, too. */
function* newNames(definitionsByName: ReadonlyMap<string, JsonObject>, definitions: JsonObject): Work<Map<string, string>> {
  const names = new Map<string, string>();
  /** Numbers only grow, so that this terminates. */
  const numbers = new Map<string, number>();
  for (let again = true; again; ) {
    again = false;
    for (const [name, definition] of Object.entries(definitions)) {
      yield;
      const there = definitionsByName.get(names.get(name) ?? name);
      if (there === undefined) continue;
      const changed = yield* withReferences(definition as JsonValue, (reference) => names.get(reference) ?? reference);
      if (yield* isSameMeaning(there, changed)) continue;
      const number = yield* freeNumber(definitionsByName, name, (numbers.get(name) ?? 1) + 1, changed);
      numbers.set(name, number);
      names.set(name, numbered(name, number));
      again = true;
    }
  }
  return names;
}

function* freeNumber(definitionsByName: ReadonlyMap<string, JsonObject>, name: string, least: number, definition: JsonValue): Work<number> {
  for (let number = least; ; number++) {
    const there = definitionsByName.get(numbered(name, number));
    if (there === undefined || (yield* isSameMeaning(there, definition))) return number;
  }
}
const numbered = (name: string, number: number): string => `${name}_v${number}`;

/** Values that are compared between two yields. */
const VALUES_A_STEP = 1024;

/** Whether two definitions are equivalent, apart from descriptions and the kinds that they name. */
function* isSameMeaning(a: JsonValue, b: JsonValue, done = { values: 0 }): Work<boolean> {
  if (++done.values % VALUES_A_STEP === 0) yield;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (const [i, item] of a.entries()) if (!(yield* isSameMeaning(item, b[i] as JsonValue, done))) return false;
    return true;
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = meaningfulKeys(a);
  if (keys.length !== meaningfulKeys(b).length) return false;
  for (const key of keys) {
    const [inA, inB] = [own(a, key) as JsonValue, own(b, key)];
    if (inB === undefined || !(yield* isSameMeaning(inA, inB, done))) return false;
  }
  return true;
}
/** A property of that name is an object, a description is a text. */
const meaningfulKeys = (object: JsonObject): string[] =>
  Object.keys(object).filter(
    (key) => !(key === 'description' && typeof object.description === 'string') && !key.endsWith('group-version-kind'),
  );

/**
 * The documents whose parts can be written in protobuf, too: an invalid one must not break the whole document.
 * Checked once for each.
 */
export async function soundParts(specs: readonly RemoteSpec[]): Promise<SpecPart[]> {
  const sound: SpecPart[] = [];
  for (const { v2 } of specs) if (v2 !== undefined && (await isSound(v2, () => binaryV2({ swagger: '2.0', ...v2 })))) sound.push(v2);
  return sound;
}
export const isSoundV3 = (bytes: Buffer): Promise<boolean> => isSound(bytes, () => binaryOfV3(bytes));

const compared = new WeakMap<object, Promise<boolean>>();
function isSound(what: object, write: () => Promise<Buffer>): Promise<boolean> {
  let pendingComparison = compared.get(what);
  if (pendingComparison === undefined) {
    pendingComparison = write().then(
      () => true,
      () => false,
    );
    compared.set(what, pendingComparison);
  }
  return pendingComparison;
}
