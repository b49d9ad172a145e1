/** Fields of custom resources that field selectors may use: which paths are allowed, and what an object has there. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { JSONSchemaProps } from './schema/json-schema.ts';
import type { SelectableField } from './schema/v1.ts';
import { isValues } from './values/node.ts';

/** Limit of fields of a version. */
const MAX_FIELDS = 8;
const scalars = ['string', 'boolean', 'integer'];
const NOT_SCALAR = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';

/** `spec.color` for `.spec.color`: the name in selectors. */
export const selectorName = ({ jsonPath }: SelectableField): string => jsonPath.replace(/^\./, '');

/** The schema at a path, or what is wrong with the path. */
function schemaAt(path: string, root: JSONSchemaProps): JSONSchemaProps | string {
  const missing = 'does not refer to a valid field';
  let schema: JSONSchemaProps = root;
  for (let rest = path; rest !== ''; ) {
    if (rest.startsWith('[')) return 'array notation is not allowed';
    const [token] = /^[^.[\]]+|^[\]]/.exec(rest) ?? [''];
    if (token !== '') return `expected [ or . but got: ${token}`;
    const [name] = /^[^.[\]]+/.exec(rest.slice(1)) ?? [rest[1]];
    if (name === undefined) return 'unexpected end of JSON path';
    const { properties, additionalProperties } = schema;
    const next = properties === undefined ? additionalProperties : (own(properties, name) as JSONSchemaProps | undefined);
    if (typeof next !== 'object') return missing;
    schema = next;
    rest = rest.slice(1 + name.length);
  }
  return schema;
}

export function validateSelectableFields(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  at: Path,
  errors: FieldErrors,
  mayBeTooMany: boolean,
): void {
  const paths = new Set<string>();
  fields.forEach(({ jsonPath }, i) => {
    const here = at.index(i).child('jsonPath');
    if (jsonPath === '') {
      errors.required(here);
      return;
    }
    const target = schemaAt(jsonPath, schema);
    if (typeof target === 'string') {
      errors.invalid(here, jsonPath, `is an invalid path: ${target}`);
      return;
    }
    if (/^\.metadata(?![^.])/.test(jsonPath)) errors.invalid(here, jsonPath, 'must not point to fields in metadata');
    if (!scalars.includes(target.type ?? '')) errors.invalid(here, jsonPath, NOT_SCALAR);
    if (paths.has(jsonPath)) errors.duplicate(here, jsonPath);
    paths.add(jsonPath);
  });
  if (paths.size > MAX_FIELDS && !mayBeTooMany) errors.tooMany(at, paths.size, MAX_FIELDS);
}

/** Reads the field of an object as text; empty where there is none. */
export function selectableReader(field: SelectableField): (object: unknown) => string {
  const names = selectorName(field).split('.');
  return (object) => {
    let value: unknown = object;
    for (const name of names) value = isValues(value) ? own(value, name) : undefined;
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  };
}
