/** The part of an OpenAPI document for one group version. */
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import { clonedJson } from '@plat-dev/schema/json/plain';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export interface SpecPart {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

const DEFINITIONS = '#/definitions/';
export const PARAMETERS = '#/parameters/';

/** Paths below `/apis/<group>/<version>/`, and the definitions that they refer to. Throws if the text is not such a document. */
export function* partOf(text: Buffer, group: string, version: string): Work<SpecPart> {
  const document = (yield* parsedExact(text)) as JsonValue;
  if (!isObject(document) || document.swagger !== '2.0') throw new Error('not a document of OpenAPI v2');
  const all = isObject(document.paths) ? document.paths : {};
  const prefix = `/apis/${group}/${version}/`;
  const paths = Object.fromEntries(Object.entries(all).filter(([path, item]) => path.startsWith(prefix) && isObject(item)));
  const allDefinitions = isObject(document.definitions) ? document.definitions : {};
  if (isObject(document.parameters)) yield* inlineParameters(paths as Record<string, JsonObject>, document.parameters);
  const usedDefinitions = new Map<string, JsonObject>();
  const pending: JsonValue[] = Object.values(paths);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    yield;
    for (const name of yield* referencesOf(value)) {
      if (usedDefinitions.has(name)) continue;
      const definition = own(allDefinitions, name);
      // A dangling reference would make the whole document invalid.
      if (!isObject(definition)) throw new Error(`the definition ${JSON.stringify(name)} is missing`);
      usedDefinitions.set(name, definition);
      pending.push(definition);
    }
  }
  return { paths, definitions: Object.fromEntries(usedDefinitions) };
}

/** Most bytes by which a document may grow because its parameters stand in several places. */
const MOST_INLINED = 8 * 1024 * 1024;

/** Puts shared parameters where they are used: those of another server may have our names and be other ones. */
function* inlineParameters(paths: Readonly<Record<string, JsonObject>>, parameters: JsonObject): Work<void> {
  const sizes = new Map<string, number>();
  let inlinedBytes = 0;
  const referredTo = (item: JsonValue): JsonValue => {
    const reference = isObject(item) ? item.$ref : undefined;
    if (typeof reference !== 'string' || !reference.startsWith(PARAMETERS)) return item;
    const name = reference.slice(PARAMETERS.length);
    const parameter = own(parameters, name);
    if (!isObject(parameter)) throw new Error(`the parameter ${JSON.stringify(name)} is missing`);
    const size = sizes.get(name) ?? jsonText(parameter).length;
    sizes.set(name, size);
    inlinedBytes += size;
    if (inlinedBytes > MOST_INLINED) throw new Error('the parameters are too large for the number of places that refer to them');
    return parameter;
  };
  for (const item of Object.values(paths))
    for (const holder of [item, ...Object.values(item)]) {
      yield;
      if (isObject(holder) && Array.isArray(holder.parameters)) holder.parameters = holder.parameters.map(referredTo);
    }
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function* referencesOf(value: JsonValue): Work<string[]> {
  const names: string[] = [];
  yield* withReferences(value, (name) => {
    names.push(name);
    return name;
  });
  return names;
}

/** The value with renamed definitions. Throws DecodeError when it is nested too deeply. */
export function withReferences(value: JsonValue, rename: (name: string) => string): Work<JsonValue> {
  return clonedJson(value, (container) => {
    if (Array.isArray(container)) return container.slice();
    const copy: JsonObject = { ...container };
    const { $ref: reference } = copy;
    if (typeof reference === 'string' && reference.startsWith(DEFINITIONS))
      copy.$ref = DEFINITIONS + rename(reference.slice(DEFINITIONS.length));
    return copy;
  });
}
