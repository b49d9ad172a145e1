/**
 * The definitions of custom kinds: their schemas as written, with the fields of every object. OpenAPI v2
 * cannot express everything in a schema: the rest is left open, so that clients that validate do not refuse valid objects.
 */

import { extensionNames } from '@plat-dev/kinds/apiextensions/schema/json-schema';
import { ListMeta, ObjectMeta } from '@plat-dev/kinds/meta';
import { PartialObjectMetadata, PartialObjectMetadataList } from '@plat-dev/kinds/meta-kinds';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { Schemas } from '@plat-dev/schema/openapi';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import type { Resource } from '../../registry/catalog.ts';
import type { Names } from './definition-names.ts';
import type { Describe } from './model.ts';

export interface CustomOptions {
  readonly identity: Identity;
  readonly names: Names;
  readonly release: 2 | 3;
  /** Descriptions of the fields of every object and every list. */
  readonly describe: Describe;
}

/** The definitions of a custom kind in one version, and of its list. */
export function customDefinitions(options: CustomOptions, resource: Resource): Schemas {
  const { kind, group, version } = resource;
  const [own, list] = [options.names.ofResource(resource), options.names.ofList(resource)];
  const { schemaExtensionPrefix: prefix } = options.identity;
  const selectable = [...(resource.definition.selectable ?? [])].map((fieldPath) => ({ fieldPath }));
  const marked = (name: string): JsonObject => ({
    [`${prefix}group-version-kind`]: [{ group, kind: name, version }],
    ...(selectable.length > 0 && { [`${prefix}selectable-fields`]: selectable }),
  });
  const publisher = new Publisher(options);
  return {
    [own]: { ...publisher.object(resource.definition.openapi), ...marked(kind.kind) },
    [list]: {
      description: `${kind.listKind} is a list of ${kind.plural}.`,
      type: 'object',
      required: ['items'],
      properties: {
        ...publisher.typeFields(),
        items: { description: `List of ${kind.plural}.`, type: 'array', items: publisher.ref(own) },
        metadata: publisher.described(PartialObjectMetadataList, options.names.of(ListMeta.name)),
      },
      ...marked(kind.listKind),
    },
  };
}

/** Keywords whose values hold no schemas, in the order in which they are published. */
const plainWords = [
  'description',
  'type',
  'format',
  'title',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'nullable',
] as const;

class Publisher {
  private readonly options: CustomOptions;
  private readonly extensions: ReturnType<typeof extensionNames>;

  constructor(options: CustomOptions) {
    this.options = options;
    this.extensions = extensionNames(options.identity.schemaExtensionPrefix);
  }

  ref(name: string): JsonObject {
    return { $ref: `#/${this.options.release === 2 ? 'definitions' : 'components/schemas'}/${name}` };
  }
  /** The metadata of an object or a list: a reference with a description, which OpenAPI v3 does not allow as siblings. */
  described(of: MessageType, name: string): JsonObject {
    const description = this.options.describe(of.name, 'metadata') ?? '';
    return this.options.release === 2 ? { description, ...this.ref(name) } : { description, allOf: [this.ref(name)] };
  }
  typeFields(): JsonObject {
    const field = (name: string): JsonObject => ({
      description: this.options.describe(PartialObjectMetadata.name, name) ?? '',
      type: 'string',
    });
    return { apiVersion: field('apiVersion'), kind: field('kind') };
  }

  /** An object of the kind. If it may have unknown fields, clients must not take the named ones for all. */
  object(definition: JsonObject | undefined): JsonObject {
    const open = definition === undefined || definition[this.extensions.preserveUnknownFields] === true;
    if (open && this.options.release === 2) return { type: 'object' };
    if (definition === undefined) return { type: 'object', [this.extensions.preserveUnknownFields]: true };
    const schema = this.schema(definition);
    return { ...schema, properties: { ...this.typeFields(), ...((schema.properties ?? {}) as JsonObject), ...this.metadata() } };
  }
  private metadata(): JsonObject {
    return { metadata: this.described(PartialObjectMetadata, this.options.names.of(ObjectMeta.name)) };
  }

  private schema(source: JsonObject): JsonObject {
    const published: JsonObject = {};
    for (const word of plainWords) if (source[word] !== undefined) published[word] = source[word];
    for (const word of Object.values(this.extensions)) if (source[word] !== undefined) published[word] = source[word];
    this.addNested(published, source);
    if (this.options.release === 2) this.makePlainer(published, source);
    if (source[this.extensions.embeddedResource] === true) this.embed(published, source);
    return published;
  }

  private addNested(published: JsonObject, source: JsonObject): void {
    const { properties, items, additionalProperties } = source;
    if (isSchema(properties)) published.properties = this.each(properties);
    if (isSchema(items)) published.items = this.schema(items);
    if (additionalProperties !== undefined)
      published.additionalProperties = isSchema(additionalProperties) ? this.schema(additionalProperties) : additionalProperties;
    // Conditions on values: they hold no fields of their own.
    if (this.options.release === 3)
      for (const word of ['allOf', 'anyOf', 'oneOf', 'not'] as const) if (source[word] !== undefined) published[word] = source[word];
  }
  private each(properties: JsonObject): JsonObject {
    const publishedEach: JsonObject = {};
    for (const [name, schema] of Object.entries(properties)) setOwn(publishedEach, name, this.schema(schema as JsonObject));
    return publishedEach;
  }

  /** Removes what OpenAPI v2 cannot express: null next to a type, fields in addition to the named ones. */
  private makePlainer(published: JsonObject, source: JsonObject): void {
    const nullable = source.nullable === true;
    delete published.nullable;
    if (nullable) delete published.type;
    if (nullable || source[this.extensions.preserveUnknownFields] === true) {
      delete published.items;
      delete published.properties;
    }
    // Clients cannot read a list without a type of its items.
    if (published.type === 'array' && published.items === undefined) delete published.type;
    const fields = source.properties as Record<string, JsonObject> | undefined;
    const required = (source.required as string[] | undefined)?.filter((name) => own(fields, name)?.nullable !== true);
    if (required === undefined || required.length === 0) delete published.required;
    else published.required = required;
  }

  /** An embedded object of any kind. */
  private embed(published: JsonObject, source: JsonObject): void {
    if (this.options.release === 2 && source[this.extensions.preserveUnknownFields] === true) return;
    published.properties = { ...((published.properties ?? {}) as JsonObject), ...this.typeFields(), ...this.metadata() };
    published.required = [...new Set([...((published.required ?? []) as string[]), 'kind', 'apiVersion'])];
  }
}

const isSchema = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
