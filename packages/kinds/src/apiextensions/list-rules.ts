/** Validation of the list types of custom kinds: atomic, set, or map by some keys. */

import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { repeatedTexts } from '../validation/each.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';

type Extensions = ReturnType<typeof extensionNames>;
const listTypes = ['atomic', 'set', 'map'];

export function validateListMarkers(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  const listType = schema[x.listType] as string | undefined;
  const keys = (schema[x.listMapKeys] ?? []) as string[];
  const item = Array.isArray(schema.items) ? undefined : schema.items;
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      const problem = `must be array if ${x.listType} is specified`;
      if (schema.type === undefined) errors.required(at.child('type'), problem);
      else errors.invalid(at.child('type'), schema.type, problem);
    } else if (listType === 'set' && item !== undefined) validateSetItem(item, at.child('items'), x, errors);
    if (!listTypes.includes(listType)) errors.notSupported(at.child(x.listType), listType, listTypes);
  }
  if (keys.length > 0 && listType !== 'map') {
    const problem = `must be map if ${x.listMapKeys} is non-empty`;
    if (listType === undefined) errors.required(at.child(x.listType), problem);
    else errors.invalid(at.child(x.listType), listType, problem);
  }
  if (listType === 'map') validateMapList(schema, keys, at, x, errors);
  if (item !== undefined && (listType === 'set' || listType === 'map')) validateMembers(item, listType, keys, at.child('items'), x, errors);
}

/** Members of a set are compared as a whole, so they must be atomic. */
function validateSetItem(item: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  const listType = item[x.listType] as string | undefined;
  const problem = `must be atomic as item of a list with ${x.listType}=set`;
  if (item.type === 'array' && listType !== undefined && listType !== 'atomic') errors.invalid(at.child(x.listType), listType, problem);
  if (item.type === 'object' && item[x.mapType] !== 'atomic') errors.invalid(at.child(x.mapType), item[x.mapType], problem);
}

function validateMapList(schema: JSONSchemaProps, keys: readonly string[], at: Path, x: Extensions, errors: FieldErrors): void {
  const { items } = schema;
  const isMap = `${x.listType} is map`;
  const keyPath = at.child(x.listMapKeys);
  if (keys.length === 0) errors.required(keyPath, `must not be empty if ${isMap}`);
  if (items === undefined) errors.required(at.child('items'), `must have a schema if ${isMap}`);
  else if (Array.isArray(items)) errors.invalid(at.child('items'), items, `must only have a single schema if ${isMap}`);
  else if (items.type !== 'object')
    errors.invalid(at.child('items').child('type'), items.type ?? '', `must be object if parent array's ${isMap}`);
  else {
    const again = repeatedTexts(keys);
    for (const [i, key] of keys.entries()) {
      const field = own(items.properties, key);
      if (field === undefined) invalidText(errors, keyPath, goList('string', keys), 'entries must all be names of item properties');
      else if (field.type === 'array' || field.type === 'object')
        errors.invalid(
          at.child('items').child('properties').key(key).child('type'),
          items.type,
          `must be a scalar type if parent array's ${isMap}`,
        );
      if (again[i]) invalidText(errors, keyPath, goList('string', keys), 'must not contain duplicate entries');
    }
  }
}

/** The keys of members are never absent. */
function validateMembers(
  item: JSONSchemaProps,
  listType: string,
  keys: readonly string[],
  at: Path,
  x: Extensions,
  errors: FieldErrors,
): void {
  if (item.nullable) errors.forbidden(at.child('nullable'), `cannot be nullable when ${x.listType} is ${listType}`);
  if (listType !== 'map') return;
  const required = new Set(item.required);
  for (const key of keys) {
    const field = own(item.properties, key);
    if (field === undefined) continue;
    const here = at.child('properties').key(key);
    const why = `this property is in ${x.listMapKeys}`;
    if (!required.has(key) && field.default === undefined)
      errors.required(here.child('default'), `${why}, so it must have a default or be a required property`);
    if (field.nullable) errors.forbidden(here.child('nullable'), `${why}, so it cannot be nullable`);
  }
}
