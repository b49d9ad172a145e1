/**
 * OpenAPI schemas of a graph of types: the `definitions` of a version 2 document, the `components.schemas` of a version 3
 * one. Every message, and every scalar that is more than a plain JSON type (a time, a quantity), becomes a schema of its
 * own that others refer to, so that a type may contain itself. Paths are made elsewhere.
 */
import type { Work } from '@plat-dev/lib/slices';
import {
  type Field,
  type JsonObject,
  type JsonValue,
  type MessageType,
  type NamedField,
  type ResolvedType,
  resolve,
  type ScalarName,
  type Type,
} from './types.ts';

export interface OpenApiOptions {
  /** The published name of a type, from `core.v1.PodSpec`, `meta.v1.Time`, `api.resource.Quantity` and so on. */
  readonly name: (type: string) => string;
  /** Prefix of schema extensions: `x-DOMAIN-` + `list-type`. */
  readonly extensionPrefix: string;
  /** The description of a type, or of one of its fields. */
  readonly describe?: (type: string, field?: string) => string | undefined;
  /** False: the values that fields may have are left out. */
  readonly enums?: boolean;
  /** The kinds of a message, for its `group-version-kind` extension. */
  readonly kinds?: (type: string) => readonly { readonly group: string; readonly version: string; readonly kind: string }[] | undefined;
}
export type Schemas = Record<string, JsonObject>;

/** Schemas of the types and of all that they refer to, for `definitions` of a version 2 document. */
export function openApiV2Definitions(types: Iterable<Type>, options: OpenApiOptions): Work<Schemas> {
  return new Publisher(2, options).publish(types);
}
/** Schemas of the types and of all that they refer to, for `components.schemas` of a version 3 document. */
export function openApiV3Schemas(types: Iterable<Type>, options: OpenApiOptions): Work<Schemas> {
  return new Publisher(3, options).publish(types);
}

/** Scalars that JSON has a type for. */
const plainScalars: Readonly<Partial<Record<ScalarName, JsonObject>>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};
/** Scalars that are published as schemas of their own. */
const namedScalars: Readonly<
  Partial<Record<ScalarName, { readonly name: string; readonly schema: JsonObject; readonly v3?: JsonObject }>>
> = {
  quantity: { name: 'api.resource.Quantity', schema: { type: 'string' }, v3: { oneOf: [{ type: 'string' }, { type: 'number' }] } },
  time: { name: 'meta.v1.Time', schema: { type: 'string', format: 'date-time' } },
  microTime: { name: 'meta.v1.MicroTime', schema: { type: 'string', format: 'date-time' } },
  duration: { name: 'meta.v1.Duration', schema: { type: 'string' } },
  intOrString: {
    name: 'util.intstr.IntOrString',
    schema: { type: 'string', format: 'int-or-string' },
    v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  raw: { name: 'runtime.RawExtension', schema: { type: 'object' } },
  fieldsV1: { name: 'meta.v1.FieldsV1', schema: { type: 'object' } },
  // Any value at all: a schema without a type.
  json: { name: 'apiextensions.v1.JSON', schema: {} },
};

class Publisher {
  private readonly version: 2 | 3;
  private readonly options: OpenApiOptions;
  private readonly schemas = new Map<string, JsonObject>();
  /** Types that were referred to and are not written yet: a list instead of recursion, however long a graph is. */
  private readonly waiting: { readonly name: string; readonly make: () => JsonObject }[] = [];

  constructor(version: 2 | 3, options: OpenApiOptions) {
    this.version = version;
    this.options = options;
  }

  *publish(types: Iterable<Type>): Work<Schemas> {
    for (const type of types) this.schemaOf(resolve(type));
    for (let next = this.waiting.pop(); next !== undefined; next = this.waiting.pop()) {
      this.schemas.set(next.name, next.make());
      yield;
    }
    const sorted = [...this.schemas].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  }

  private extension(name: string): string {
    return this.options.extensionPrefix + name;
  }

  private reference(type: string, make: () => JsonObject): JsonObject {
    const name = this.options.name(type);
    if (!this.schemas.has(name)) {
      // The name is reserved at once, so that a type is written only once even if it contains itself.
      this.schemas.set(name, {});
      this.waiting.push({ name, make });
    }
    return { $ref: `${this.version === 2 ? '#/definitions/' : '#/components/schemas/'}${name}` };
  }

  private schemaOf(type: ResolvedType): JsonObject {
    switch (type.node) {
      case 'scalar': {
        const named = namedScalars[type.name];
        if (named === undefined) return { ...plainScalars[type.name] };
        return this.reference(named.name, () => ({
          ...this.described(named.name),
          ...((this.version === 3 ? named.v3 : undefined) ?? named.schema),
        }));
      }
      case 'list':
        return { type: 'array', items: this.element(resolve(type.item)) };
      case 'map':
        return { type: 'object', additionalProperties: this.element(resolve(type.value)) };
      case 'union':
        // OpenAPI version 2 has no `oneOf`; a stock server publishes a schema without a type.
        this.schemaOf(resolve(type.object.type));
        return this.reference(type.name, () => this.described(type.name));
      case 'message':
        return this.reference(type.name, () => this.message(type));
    }
  }
  /** The element type of a list or a map. In version 3 a reference with a sibling is wrapped in `allOf`. */
  private element(type: ResolvedType): JsonObject {
    const schema = this.schemaOf(type);
    return this.version === 3 && type.node === 'message' ? { allOf: [schema], default: {} } : schema;
  }

  private described(type: string, field?: string): JsonObject {
    const text = this.options.describe?.(type, field);
    return text === undefined ? {} : { description: text };
  }

  private message(type: MessageType): JsonObject {
    const properties: [string, JsonValue][] = type.ordered.map((field) => [field.name, this.property(type, field)]);
    const required = type.ordered.filter((field) => field.required === true).map((field) => field.name);
    const kinds = this.options.kinds?.(type.name);
    return {
      ...this.described(type.name),
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(type.unknown === 'keep' ? { [this.extension('preserve-unknown-fields')]: true } : {}),
      ...(type.atomic ? { [this.extension('map-type')]: 'atomic' } : {}),
      ...(kinds !== undefined && kinds.length > 0 ? { [this.extension('group-version-kind')]: kinds.map((kind) => ({ ...kind })) } : {}),
    };
  }

  private property(message: MessageType, field: NamedField): JsonObject {
    const type = resolve(field.type);
    const schema = this.schemaOf(type);
    const values: JsonObject = field.enum !== undefined && this.options.enums !== false ? { enum: [...field.enum] } : {};
    // The values of a list or a map are those of its items.
    if (type.node === 'list') schema.items = { ...(schema.items as JsonObject), ...values };
    else if (type.node === 'map') schema.additionalProperties = { ...(schema.additionalProperties as JsonObject), ...values };
    const more: JsonObject = {
      ...this.described(message.name, field.name),
      ...(field.format !== undefined ? { format: field.format } : {}),
      ...(type.node === 'scalar' ? values : {}),
      ...(field.default !== undefined ? { default: field.default as JsonValue } : {}),
      ...this.listMarks(type),
      ...this.patchMarks(field),
    };
    if (this.version === 2 || schema.$ref === undefined) return { ...schema, ...more };
    // A message that is not a pointer is present even if it is empty.
    const present = type.node === 'message' && field.always && field.nullable !== true;
    return { allOf: [schema], ...(present ? { default: {} } : {}), ...more };
  }

  private listMarks(type: ResolvedType): JsonObject {
    if (type.node === 'map') return type.atomic ? { [this.extension('map-type')]: 'atomic' } : {};
    if (type.node !== 'list' || type.list === 'atomic') return {};
    const keys = type.list === 'map' ? { [this.extension('list-map-keys')]: [...type.keys] } : {};
    return { ...keys, [this.extension('list-type')]: type.list };
  }
  private patchMarks(field: Field): JsonObject {
    return {
      ...(field.mergeKey !== undefined ? { [this.extension('patch-merge-key')]: field.mergeKey } : {}),
      ...(field.patch !== undefined ? { [this.extension('patch-strategy')]: field.patch } : {}),
    };
  }
}
