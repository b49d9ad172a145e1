/** The part of an OpenAPI document for one group version. */
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export interface SpecPart {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

const DEFINITIONS = '#/definitions/';

/** Paths below `/apis/<group>/<version>/`, and the definitions that they refer to. Throws if the text is not such a document. */
export function* partOf(text: Buffer, group: string, version: string): Work<SpecPart> {
  const document = (yield* parsedExact(text)) as JsonValue;
  if (!isObject(document) || document.swagger !== '2.0') throw new Error('not a document of OpenAPI v2');
  const all = isObject(document.paths) ? document.paths : {};
  const prefix = `/apis/${group}/${version}/`;
  const paths = Object.fromEntries(Object.entries(all).filter(([path, item]) => path.startsWith(prefix) && isObject(item)));
  const known = isObject(document.definitions) ? document.definitions : {};
  const used = new Map<string, JsonObject>();
  const pending: JsonValue[] = Object.values(paths);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    yield;
    for (const name of referencesOf(value)) {
      if (used.has(name)) continue;
      const definition = own(known, name);
      // A dangling reference would make the whole document invalid.
      if (!isObject(definition)) throw new Error(`the definition ${JSON.stringify(name)} is missing`);
      used.set(name, definition);
      pending.push(definition);
    }
  }
  return { paths, definitions: Object.fromEntries(used) };
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function referencesOf(value: JsonValue): string[] {
  const found: string[] = [];
  withReferences(value, (name) => {
    found.push(name);
    return name;
  });
  return found;
}

/** The value with renamed definitions. */
export function withReferences(value: JsonValue, rename: (name: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, rename));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isReference = key === '$ref' && typeof inner === 'string' && inner.startsWith(DEFINITIONS);
      return [key, isReference ? DEFINITIONS + rename(inner.slice(DEFINITIONS.length)) : withReferences(inner, rename)];
    }),
  );
}
