/**
 * The schema of a schema, as a custom resource definition carries it. Its extensions (`x-…-list-type`) are named after
 * the identity, so the message is made once per prefix. It contains itself, hence the written-out TypeScript type.
 */
import type { Integer } from '@plat-dev/lib/integers';
import {
  bool,
  double,
  type Infer,
  int64,
  type JsonValue,
  json,
  lazy,
  list,
  type MessageType,
  map,
  message,
  opt,
  ptr,
  req,
  type ScalarType,
  string,
  union,
} from '@plat-dev/schema/types';

const ExternalDocumentation = message('apiextensions.v1.ExternalDocumentation', {
  description: opt(1, string),
  url: opt(2, string),
});
type ExternalDocumentation = Infer<typeof ExternalDocumentation>;

export const ValidationRule = message('apiextensions.v1.ValidationRule', {
  rule: req(1, string),
  message: opt(2, string),
  // From releases after 1.24: public definitions have them.
  messageExpression: opt(3, string),
  reason: ptr(4, string),
  fieldPath: opt(5, string),
  optionalOldSelf: ptr(6, bool),
});
export type ValidationRule = Infer<typeof ValidationRule>;

export interface JSONSchemaProps {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: JsonValue;
  /** A float; a whole one beyond 2^53 is read from the store as an integer, here and below. */
  maximum?: Integer;
  exclusiveMaximum?: boolean;
  minimum?: Integer;
  exclusiveMinimum?: boolean;
  maxLength?: Integer;
  minLength?: Integer;
  pattern?: string;
  maxItems?: Integer;
  minItems?: Integer;
  uniqueItems?: boolean;
  multipleOf?: Integer;
  enum?: JsonValue[];
  maxProperties?: Integer;
  minProperties?: Integer;
  required?: string[];
  items?: JSONSchemaProps | JSONSchemaProps[];
  allOf?: JSONSchemaProps[];
  oneOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  not?: JSONSchemaProps;
  properties?: Record<string, JSONSchemaProps>;
  additionalProperties?: JSONSchemaProps | boolean;
  patternProperties?: Record<string, JSONSchemaProps>;
  dependencies?: Record<string, JSONSchemaProps | string[]>;
  additionalItems?: JSONSchemaProps | boolean;
  definitions?: Record<string, JSONSchemaProps>;
  externalDocs?: ExternalDocumentation;
  example?: JsonValue;
  nullable?: boolean;
  /** Extensions under the identity's prefix; `extensionNames` spells them. */
  [extension: `x-${string}`]: unknown;
}

/** JSON names of the extensions under a prefix. */
export function extensionNames(prefix: string) {
  return {
    preserveUnknownFields: `${prefix}preserve-unknown-fields`,
    embeddedResource: `${prefix}embedded-resource`,
    intOrString: `${prefix}int-or-string`,
    listMapKeys: `${prefix}list-map-keys`,
    listType: `${prefix}list-type`,
    mapType: `${prefix}map-type`,
    validations: `${prefix}validations`,
  } as { [K in ExtensionKey]: `x-${string}` };
}
type ExtensionKey = 'preserveUnknownFields' | 'embeddedResource' | 'intOrString' | 'listMapKeys' | 'listType' | 'mapType' | 'validations';

/** A reference to the message. To the compiler it is a scalar, so that inference takes the type written out above. */
export type SchemaReference = ScalarType<JSONSchemaProps>;

export function jsonSchemaProps(prefix: string): SchemaReference {
  const names = extensionNames(prefix);
  const itself = lazy(() => props) as unknown as SchemaReference;
  const schemaOrBool = union('apiextensions.v1.JSONSchemaPropsOrBool', { tag: 2, type: itself }, { tag: 1, type: bool });
  const schemaOrArray = union('apiextensions.v1.JSONSchemaPropsOrArray', { tag: 1, type: itself }, { tag: 2, type: list(itself) });
  const schemaOrNames = union('apiextensions.v1.JSONSchemaPropsOrStringArray', { tag: 1, type: itself }, { tag: 2, type: list(string) });
  const props: MessageType = message('apiextensions.v1.JSONSchemaProps', {
    id: opt(1, string),
    $schema: opt(2, string),
    $ref: ptr(3, string),
    description: opt(4, string),
    type: opt(5, string),
    format: opt(6, string),
    title: opt(7, string),
    default: ptr(8, json),
    maximum: ptr(9, double),
    exclusiveMaximum: opt(10, bool),
    minimum: ptr(11, double),
    exclusiveMinimum: opt(12, bool),
    maxLength: ptr(13, int64),
    minLength: ptr(14, int64),
    pattern: opt(15, string),
    maxItems: ptr(16, int64),
    minItems: ptr(17, int64),
    uniqueItems: opt(18, bool),
    multipleOf: ptr(19, double),
    enum: opt(20, list(json)),
    maxProperties: ptr(21, int64),
    minProperties: ptr(22, int64),
    required: opt(23, list(string)),
    items: ptr(24, schemaOrArray),
    allOf: opt(25, list(itself)),
    oneOf: opt(26, list(itself)),
    anyOf: opt(27, list(itself)),
    not: ptr(28, itself),
    properties: opt(29, map(itself)),
    additionalProperties: ptr(30, schemaOrBool),
    patternProperties: opt(31, map(itself)),
    dependencies: opt(32, map(schemaOrNames)),
    additionalItems: ptr(33, schemaOrBool),
    definitions: opt(34, map(itself)),
    externalDocs: ptr(35, ExternalDocumentation),
    example: ptr(36, json),
    nullable: opt(37, bool),
    preserveUnknownFields: ptr(38, bool, { json: names.preserveUnknownFields }),
    embeddedResource: opt(39, bool, { json: names.embeddedResource }),
    intOrString: opt(40, bool, { json: names.intOrString }),
    listMapKeys: opt(41, list(string), { json: names.listMapKeys }),
    listType: ptr(42, string, { json: names.listType }),
    mapType: ptr(43, string, { json: names.mapType }),
    validations: opt(44, list(ValidationRule, 'map', ['rule']), { json: names.validations, patch: 'merge', mergeKey: 'rule' }),
  });
  return itself;
}
