/** `vars`: `$(NAME)` in some fields is replaced by the value of a field of another object, after that has its final name. */
import type { JsonValue } from '@plat-dev/schema/types';
import { fieldPlaces } from './field-paths.ts';
import { eachField, type FieldSpec } from './field-specs.ts';
import { isClusterScoped, kindIdOf, type ObjectId, sameId, sameKind } from './ids.ts';
import { isMap, KustomizeError, type Resource, type Resources } from './resource.ts';

export interface Var {
  readonly name: string;
  readonly objref?: Partial<ObjectId> & { readonly apiVersion?: string };
  readonly fieldref?: { readonly fieldPath?: string; readonly fieldpath?: string };
}

export class Vars {
  private readonly all = new Map<string, Var>();

  /** Those of one kustomization: the names of their objects are the ones that it knows. */
  add(vars: readonly Var[], resources: Resources): void {
    for (const one of vars) {
      if (this.all.has(one.name)) throw new KustomizeError(`var ${one.name} already encountered`);
      this.all.set(one.name, one);
      const { apiVersion = '', group = '', version = '', kind = '', name = '', namespace = '' } = one.objref ?? {};
      const wantedId: ObjectId = { ...(apiVersion === '' ? { group, version, kind } : kindIdOf(apiVersion, kind)), name, namespace };
      // Without a namespace, objects of any match.
      const matches = resources.byAnyId((id) =>
        namespace !== '' || isClusterScoped(wantedId) ? sameId(id, wantedId) : id.name === name && sameKind(id, wantedId),
      );
      if (matches.length > 1) throw new KustomizeError(`var ${one.name}: ${matches.length} objects match (unable to disambiguate)`);
      matches[0]?.vars.push(one.name);
    }
  }
  resolve(list: readonly Resource[], specs: readonly FieldSpec[]): void {
    if (this.all.size === 0) return;
    const values = new Map([...this.all.values()].map((one) => [one.name, varValue(one, list)]));
    for (const { object } of list)
      for (const spec of specs)
        eachField(object, spec, undefined, ({ value, set }) => {
          if (value !== undefined) set(replaced(value, values));
        });
  }
}

function varValue({ name, fieldref }: Var, list: readonly Resource[]): JsonValue {
  const holder = list.find((one) => one.vars.includes(name));
  if (holder === undefined) throw new KustomizeError(`var ${name} cannot be mapped to a field in the set of known resources`);
  const path = fieldref?.fieldPath ?? fieldref?.fieldpath ?? 'metadata.name';
  const value = fieldPlaces(holder.object, path.replace(/\[(['"]?)([^\]=]*)\1\]/g, '.[$2]'))[0]?.value;
  if (value === undefined || value === null || typeof value === 'object')
    throw new KustomizeError(`var ${name}: the object has no field ${path}`);
  return value;
}

/** Texts, and those that a list or map holds. */
function replaced(value: JsonValue, values: ReadonlyMap<string, JsonValue>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? expanded(item, values) : item));
  if (isMap(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typeof item === 'string' ? expanded(item, values) : item]));
  }
  return typeof value === 'string' ? expanded(value, values) : value;
}
/** A text that is one reference keeps the type of the value; `$$` is a dollar sign. */
function expanded(text: string, values: ReadonlyMap<string, JsonValue>): JsonValue {
  const whole = /^\$\(([^)]*)\)$/.exec(text)?.[1];
  if (whole !== undefined) return values.get(whole) ?? text;
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (all, name?: string) => (name === undefined ? '$' : String(values.get(name) ?? all)));
}
