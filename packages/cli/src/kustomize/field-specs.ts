/**
 * Places of fields in objects of many kinds, as kustomize writes them: `spec/template/metadata/labels`. A list on the way means
 * each of its items; a slash within a name is written `\/`.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isOfKind, type KindId, kindIdOf } from './ids.ts';
import { isMap, KustomizeError } from './resource.ts';

export interface FieldSpec extends Partial<KindId> {
  readonly path: string;
  /** Whether the field is made where it is missing. */
  readonly create?: boolean;
}

/** The holder of a found field and its name or index there. */
export interface Place {
  readonly value: JsonValue | undefined;
  set(value: JsonValue): void;
}

/** Calls `change` for every place of the field in the object, if the spec is about its kind. `empty` is what a made field holds. */
export function eachField(object: JsonObject, spec: FieldSpec, empty: JsonValue | undefined, change: (place: Place) => void): void {
  if (!isOfKind(kindIdOf(String(object.apiVersion ?? ''), String(object.kind ?? '')), spec)) return;
  walk(object, splitPath(spec.path, '/'), 0, spec.create === true ? empty : undefined, change);
}

function walk(value: JsonValue, path: readonly string[], at: number, empty: JsonValue | undefined, change: (place: Place) => void): void {
  if (value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) walk(item, path, at, empty, change);
    return;
  }
  if (!isMap(value)) throw new KustomizeError(`${path.join('/')}: expected sequence or mapping node`);
  const segment = path[at] as string;
  const name = segment.replace(/\[\]$/, '');
  const isLast = at === path.length - 1;
  const mayCreate = empty !== undefined && segment === name;
  if ((own(value, name) === undefined || own(value, name) === null) && mayCreate) setOwn(value, name, isLast ? structuredClone(empty) : {});
  const fieldValue = own(value, name);
  if (fieldValue === undefined) return;
  if (!isLast) walk(fieldValue, path, at + 1, empty, change);
  else if (segment !== name && Array.isArray(fieldValue))
    for (const [i, item] of fieldValue.entries()) change(placeIn(fieldValue, i, item));
  else change({ value: fieldValue, set: (changed) => setOwn(value, name, changed) });
}
const placeIn = (list: JsonValue[], at: number, value: JsonValue): Place => ({
  value,
  set: (changed) => {
    list[at] = changed;
  },
});

/** `a\/b/c` → `a/b`, `c` */
function splitPath(path: string, delimiter: string): string[] {
  const parts: string[] = [];
  let open = '';
  for (const part of path.split(delimiter)) {
    if (part.endsWith('\\')) open += `${part.slice(0, -1)}${delimiter}`;
    else {
      parts.push(open + part);
      open = '';
    }
  }
  if (open !== '') parts.push(open);
  return parts;
}
