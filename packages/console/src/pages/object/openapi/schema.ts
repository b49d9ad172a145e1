/**
 * Schemas of kinds as a document of OpenAPI v3 has them. References are followed when a part is asked for, so that schemas may
 * contain themselves.
 *
 *   schemaAt(rootSchema(document, deployments), ['spec', 'template', 'spec', 'containers', 0, 'image']) → { type: 'string', … }
 */
import { own } from '@plat-dev/lib/own';
import type { Kind } from '../../../api/kinds.ts';
import { isMap, listAt, mapAt, textAt, type Value, type ValueMap } from '../../../api/values.ts';

export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, ValueMap>> };
}

export interface Schema {
  readonly document: OpenApiDocument;
  readonly description: string;
  /** Empty: any type. */
  readonly type: string;
  readonly isIntOrString: boolean;
  readonly isNullable: boolean;
  readonly enumeration: readonly Value[];
  readonly required: readonly string[];
  /** Whether fields that it does not name are kept. */
  readonly isOpen: boolean;
  readonly raw: ValueMap;
}

export type FieldPath = readonly (string | number)[];

/** The schema of a kind; undefined where the document does not have it. */
export function rootSchema(
  document: OpenApiDocument,
  { group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>,
): Schema | undefined {
  for (const raw of Object.values(document.components?.schemas ?? {})) {
    const names = Object.entries(raw).find(([key]) => key.endsWith('-group-version-kind'))?.[1];
    const isIt = listAt(names).some(
      (name) => textAt(name, 'group') === group && textAt(name, 'version') === version && textAt(name, 'kind') === kind,
    );
    if (isIt) return schemaOf(document, raw);
  }
  return undefined;
}

/** References within references end somewhere, but a document may be wrong. */
const MOST_REFERENCES = 20;

function schemaOf(document: OpenApiDocument, raw: Value): Schema | undefined {
  if (!isMap(raw)) return undefined;
  let whole: ValueMap = raw;
  for (let i = 0; i < MOST_REFERENCES; i++) {
    const reference = textAt(whole, '$ref') || textAt(whole, 'allOf', 0, '$ref');
    if (reference === '') break;
    const { $ref: _, allOf: __, ...own } = whole;
    whole = { ...referenced(document, reference), ...own };
  }
  const extension = (name: string): Value => Object.entries(whole).find(([key]) => key.startsWith('x-') && key.endsWith(name))?.[1];
  const type = textAt(whole, 'type');
  return {
    document,
    description: textAt(whole, 'description'),
    type,
    isIntOrString: extension('-int-or-string') === true || textAt(whole, 'format') === 'int-or-string' || listAt(whole, 'oneOf').length > 0,
    isNullable: mapAt({ whole }, 'whole').nullable === true,
    enumeration: listAt(whole, 'enum'),
    required: listAt(whole, 'required').map(String),
    isOpen: extension('-preserve-unknown-fields') === true || extension('-embedded-resource') === true || !isMap(own(whole, 'properties')),
    raw: whole,
  };
}

function referenced(document: OpenApiDocument, reference: string): ValueMap {
  return own(document.components?.schemas, reference.slice(reference.lastIndexOf('/') + 1)) ?? {};
}

/** The fields that a schema names, in its order. */
export function propertiesOf(schema: Schema | undefined): ReadonlyMap<string, Schema> {
  if (schema === undefined) return new Map();
  const entries = Object.entries(mapAt(schema.raw, 'properties'));
  return new Map(
    entries.flatMap(([name, raw]) => {
      const property = schemaOf(schema.document, raw);
      return property === undefined ? [] : [[name, property] as const];
    }),
  );
}

/** The schema of a field, of an item, or of a value of a map. */
export function partOf(schema: Schema | undefined, key: string | number): Schema | undefined {
  if (schema === undefined) return undefined;
  if (typeof key === 'number') return schemaOf(schema.document, own(schema.raw, 'items'));
  return schemaOf(schema.document, own(mapAt(schema.raw, 'properties'), key) ?? own(schema.raw, 'additionalProperties'));
}

export function schemaAt(root: Schema | undefined, path: FieldPath): Schema | undefined {
  return path.reduce<Schema | undefined>(partOf, root);
}

/** `string`, `list of string`, `map of integer`, `integer or string` */
export function typeText(schema: Schema): string {
  if (schema.isIntOrString) return 'integer or string';
  if (schema.type === 'array') return `list of ${typeOfPart(partOf(schema, 0))}`;
  const values = schemaOf(schema.document, own(schema.raw, 'additionalProperties'));
  if (values !== undefined) return `map of ${typeOfPart(values)}`;
  return schema.type || 'any value';
}
const typeOfPart = (part: Schema | undefined): string => (part === undefined ? 'any value' : typeText(part));
