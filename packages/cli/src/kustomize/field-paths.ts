/** Paths of fields in one object, as replacements and vars write them: dots between names, brackets around conditions. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isMap } from './resource.ts';

export interface FieldPlace {
  readonly value: JsonValue | undefined;
  set(value: JsonValue): void;
}

/** `spec.containers.[name=web].image`, `spec.rules.*.host`, `metadata.annotations.[example.com/a]`, `spec.args.0` */
export function fieldPlaces(object: JsonObject, path: string, create = false): FieldPlace[] {
  let places: FieldPlace[] = [{ value: object, set: () => {} }];
  const segments = splitFieldPath(path);
  segments.forEach((segment, i) => {
    const isLast = i === segments.length - 1;
    const next = segments[i + 1];
    places = places.flatMap((place) => step(place, segment, create, isLast, next));
  });
  return places;
}
function step({ value, set }: FieldPlace, segment: string, create: boolean, isLast: boolean, next: string | undefined): FieldPlace[] {
  const condition = /^\[([^=]+)=(.*)\]$/s.exec(segment);
  if (Array.isArray(value)) return listPlaces(value, segment, condition, create);
  if (condition !== null) return [];
  if (value !== undefined && value !== null && !isMap(value)) return [];
  let map = value ?? undefined;
  if (map === undefined) {
    if (!create) return [];
    map = {};
    set(map);
  }
  const holder = map;
  if (segment === '*') return Object.keys(holder).map((key) => placeOf(holder, key));
  if (own(holder, segment) === undefined && !create) return [];
  if (own(holder, segment) === undefined && !isLast) setOwn(holder, segment, next?.startsWith('[') ? [] : {});
  return [placeOf(holder, segment)];
}
const placeOf = (holder: JsonObject, key: string): FieldPlace => ({ value: own(holder, key), set: (value) => setOwn(holder, key, value) });

function listPlaces(list: JsonValue[], segment: string, condition: RegExpExecArray | null, create: boolean): FieldPlace[] {
  const at = (i: number): FieldPlace => ({
    value: list[i],
    set: (value) => {
      list[i] = value;
    },
  });
  if (segment === '*') return list.map((_, i) => at(i));
  if (condition !== null) {
    const [, key = '', conditionValue = ''] = condition;
    const matchingPlaces = list.flatMap((item, i) => (isMap(item) && String(own(item, key)) === conditionValue ? [at(i)] : []));
    return matchingPlaces.length > 0 || !create ? matchingPlaces : [at(list.push({ [key]: conditionValue }) - 1)];
  }
  const index = /^\d+$/.test(segment) ? Number(segment) : -1;
  return index >= 0 && index < list.length ? [at(index)] : [];
}

/** Dots within brackets, and those after a backslash, belong to a name. */
function splitFieldPath(path: string): string[] {
  const parts = path.match(/(?:\[[^\]]*\]|\\.|[^.[])+|\[/g) ?? [];
  return parts.map((part) => {
    const name = part.replace(/\\\./g, '.');
    const bracketed = /^\[([^\]=]*)\]$/.exec(name);
    return bracketed?.[1] ?? name;
  });
}
