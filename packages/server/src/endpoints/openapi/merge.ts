/** Merges the documents of aggregated API servers into this server's own. */

import { equal } from '@plat-dev/lib/equal';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isObject, type SpecPart, withReferences } from '../../extension/aggregation/spec.ts';
import type { RemoteSpec } from '../../extension/aggregation/specs.ts';
import { binaryV2, binaryV3 } from './binary.ts';

/**
 * The paths and definitions to add. Two servers may have different definitions under one name: the later one is renamed, as
 * stock servers do.
 *
 *   ours: A        theirs: A (the same), B → A      adds B → A
 *   ours: A        theirs: A (another), B → A       adds A_v2, B → A_v2
 */
export function mergedParts(own: Readonly<Record<string, JsonObject>>, parts: readonly SpecPart[]): SpecPart {
  const definitionsByName = new Map<string, JsonObject>(Object.entries(own));
  const paths: [string, JsonValue][] = [];
  const added: [string, JsonObject][] = [];
  for (const part of parts) {
    const names = newNames(definitionsByName, part.definitions);
    const rename = (name: string): string => names.get(name) ?? name;
    for (const [name, definition] of Object.entries(part.definitions)) {
      const newName = rename(name);
      if (definitionsByName.has(newName)) continue;
      const changed = withReferences(definition, rename) as JsonObject;
      definitionsByName.set(newName, changed);
      added.push([newName, changed]);
    }
    for (const [path, item] of Object.entries(part.paths)) paths.push([path, withReferences(item as JsonValue, rename)]);
  }
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(added) };
}

/** The definitions that cannot keep their names. A definition that refers to a renamed one is a different one, too. */
function newNames(definitionsByName: ReadonlyMap<string, JsonObject>, definitions: JsonObject): Map<string, string> {
  const names = new Map<string, string>();
  /** Numbers only grow, so that this terminates. */
  const numbers = new Map<string, number>();
  const changed = (definition: JsonValue): JsonValue => withReferences(definition, (name) => names.get(name) ?? name);
  for (let again = true; again; ) {
    again = false;
    for (const [name, definition] of Object.entries(definitions)) {
      const wantedName = names.get(name) ?? name;
      const there = definitionsByName.get(wantedName);
      if (there === undefined || sameMeaning(there, changed(definition as JsonValue))) continue;
      const number = freeNumber(definitionsByName, name, (numbers.get(name) ?? 1) + 1, changed(definition as JsonValue));
      numbers.set(name, number);
      names.set(name, numbered(name, number));
      again = true;
    }
  }
  return names;
}

function freeNumber(definitionsByName: ReadonlyMap<string, JsonObject>, name: string, least: number, definition: JsonValue): number {
  for (let number = least; ; number++) {
    const there = definitionsByName.get(numbered(name, number));
    if (there === undefined || sameMeaning(there, definition)) return number;
  }
}
const numbered = (name: string, number: number): string => `${name}_v${number}`;

/** Whether two definitions are equivalent, apart from descriptions and the kinds that they name. */
const sameMeaning = (a: JsonValue, b: JsonValue): boolean => equal(meaning(a), meaning(b));

function meaning(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(meaning);
  if (!isObject(value)) return value;
  const meaningfulFields = Object.entries(value).filter(
    // A property of that name is an object, a description is a text.
    ([key, inner]) => !(key === 'description' && typeof inner === 'string') && !key.endsWith('group-version-kind'),
  );
  return Object.fromEntries(meaningfulFields.map(([key, inner]) => [key, meaning(inner as JsonValue)]));
}

/**
 * The documents whose parts can be written in protobuf, too: an invalid one must not break the whole document.
 * Checked once for each.
 */
export async function soundParts(specs: readonly RemoteSpec[]): Promise<SpecPart[]> {
  const sound: SpecPart[] = [];
  for (const { v2 } of specs) if (v2 !== undefined && (await isSound(v2, () => binaryV2({ swagger: '2.0', ...v2 })))) sound.push(v2);
  return sound;
}
export const isSoundV3 = (bytes: Buffer): Promise<boolean> => isSound(bytes, () => binaryV3(parseExact(bytes.toString()) as JsonObject));

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
