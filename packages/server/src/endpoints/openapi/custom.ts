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
  const marked = (name: string): JsonObject => ({
    [`${options.identity.schemaExtensionPrefix}group-version-kind`]: [{ group, kind: name, version }],
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
  object(written: JsonObject | undefined): JsonObject {
    const open = written === undefined || written[this.extensions.preserveUnknownFields] === true;
    if (open && this.options.release === 2) return { type: 'object' };
    if (written === undefined) return { type: 'object', [this.extensions.preserveUnknownFields]: true };
    const schema = this.schema(written);
    return { ...schema, properties: { ...this.typeFields(), ...((schema.properties ?? {}) as JsonObject), ...this.metadata() } };
  }
  private metadata(): JsonObject {
    return { metadata: this.described(PartialObjectMetadata, this.options.names.of(ObjectMeta.name)) };
  }

  private schema(written: JsonObject): JsonObject {
    const made: JsonObject = {};
    for (const word of plainWords) if (written[word] !== undefined) made[word] = written[word];
    for (const word of Object.values(this.extensions)) if (written[word] !== undefined) made[word] = written[word];
    this.addNested(made, written);
    if (this.options.release === 2) this.makePlainer(made, written);
    if (written[this.extensions.embeddedResource] === true) this.embed(made, written);
    return made;
  }

  private addNested(made: JsonObject, written: JsonObject): void {
    const { properties, items, additionalProperties } = written;
    if (isSchema(properties)) made.properties = this.each(properties);
    if (isSchema(items)) made.items = this.schema(items);
    if (additionalProperties !== undefined)
      made.additionalProperties = isSchema(additionalProperties) ? this.schema(additionalProperties) : additionalProperties;
    // Conditions on values: they hold no fields of their own.
    if (this.options.release === 3)
      for (const word of ['allOf', 'anyOf', 'oneOf', 'not'] as const) if (written[word] !== undefined) made[word] = written[word];
  }
  private each(properties: JsonObject): JsonObject {
    const made: JsonObject = {};
    for (const [name, schema] of Object.entries(properties)) setOwn(made, name, this.schema(schema as JsonObject));
    return made;
  }

  /** Removes what OpenAPI v2 cannot express: null next to a type, fields in addition to the named ones. */
  private makePlainer(made: JsonObject, written: JsonObject): void {
    const nullable = written.nullable === true;
    delete made.nullable;
    if (nullable) delete made.type;
    if (nullable || written[this.extensions.preserveUnknownFields] === true) {
      delete made.items;
      delete made.properties;
    }
    // Clients cannot read a list without a type of its items.
    if (made.type === 'array' && made.items === undefined) delete made.type;
    const fields = written.properties as Record<string, JsonObject> | undefined;
    const required = (written.required as string[] | undefined)?.filter((name) => own(fields, name)?.nullable !== true);
    if (required === undefined || required.length === 0) delete made.required;
    else made.required = required;
  }

  /** An embedded object of any kind. */
  private embed(made: JsonObject, written: JsonObject): void {
    if (this.options.release === 2 && written[this.extensions.preserveUnknownFields] === true) return;
    made.properties = { ...((made.properties ?? {}) as JsonObject), ...this.typeFields(), ...this.metadata() };
    made.required = [...new Set([...((made.required ?? []) as string[]), 'kind', 'apiVersion'])];
  }
}

const isSchema = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
