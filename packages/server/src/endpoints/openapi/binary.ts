/**
 * Documents in protobuf: messages that mirror the JSON, with maps as lists of named values and a wrapper around
 * every choice. Only the fields of our documents are known here; any others would be omitted.
 */
import { type Integer, isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { own } from '@plat-dev/lib/own';
import { Slices } from '@plat-dev/lib/slices';
import { BackwardWriter } from '@plat-dev/schema/protobuf/writer';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parsedText } from '../../registry/versions.ts';

/** Writes the content of a value; the caller writes its tag. */
type Write = (out: BackwardWriter, tag: number, value: JsonValue) => void;

const LENGTH = 2;
const VARINT = 0;
const DOUBLE = 1;

const text: Write = (out, tag, value) => {
  out.text(value as string);
  out.varint((tag << 3) | LENGTH);
};
const bool: Write = (out, tag, value) => {
  if (value !== true) return;
  out.varint(1);
  out.varint((tag << 3) | VARINT);
};
const integer: Write = (out, tag, value) => {
  out.int(value as Integer);
  out.varint((tag << 3) | VARINT);
};
const double: Write = (out, tag, value) => {
  out.double(Number(value));
  out.varint((tag << 3) | DOUBLE);
};
/** Any value as YAML, a superset of JSON. */
const any: Write = (out, tag, value) => inside(out, tag, () => text(out, 2, `${jsonText(value)}\n`));

function inside(out: BackwardWriter, tag: number, content: () => void): void {
  const lengthBefore = out.length;
  content();
  out.varint(out.length - lengthBefore);
  out.varint((tag << 3) | LENGTH);
}

/** Every item under the same tag; a single value counts as one item. */
const each =
  (item: Write): Write =>
  (out, tag, value) => {
    const items = Array.isArray(value) ? value : [value];
    for (let i = items.length - 1; i >= 0; i--) item(out, tag, items[i] as JsonValue);
  };
/** A message around the value, which is its field `field`. */
const wrapped =
  (field: number, content: Write): Write =>
  (out, tag, value) =>
    inside(out, tag, () => content(out, field, value));
/** A list of names and values, under one tag. */
const withItemName =
  (item: Write): Write =>
  (out, tag, value) => {
    const entries = Object.entries(value as JsonObject);
    for (let i = entries.length - 1; i >= 0; i--) {
      const [name, one] = entries[i] as [string, JsonValue];
      inside(out, tag, () => {
        item(out, 2, one);
        text(out, 1, name);
      });
    }
  };
/** A map as a message of its own, whose first field lists it. */
const mapOf = (item: Write): Write => wrapped(1, withItemName(item));

type Fields = Readonly<Record<string, readonly [tag: number, write: Write]>>;

/** A message of these fields; names that begin with `x-` are listed under the tag of extensions. */
function message(fields: () => Fields, extensions?: number): Write {
  let ordered: (readonly [name: string, tag: number, write: Write])[] | undefined;
  return (out, tag, value) =>
    inside(out, tag, () => {
      ordered ??= Object.entries(fields())
        .map(([name, [number, write]]) => [name, number, write] as const)
        .sort((a, b) => b[1] - a[1]);
      const object = value as JsonObject;
      // Extensions have the last tag, hence come first.
      if (extensions !== undefined) {
        const own = Object.entries(object).filter(([name]) => name.startsWith('x-'));
        if (own.length > 0) withItemName(any)(out, extensions, Object.fromEntries(own));
      }
      for (const [name, number, write] of ordered) {
        const one = own(object, name);
        if (one !== undefined) write(out, number, one);
      }
    });
}

const choose =
  (choice: (value: JsonValue) => Write): Write =>
  (out, tag, value) =>
    choice(value)(out, tag, value);
const isRef = (value: JsonValue): boolean => (value as JsonObject).$ref !== undefined;

/** Limits on values, at the field numbers of a message. */
const bounds = (multipleOf: number, maximum: number, maxProperties: number): Fields => ({
  multipleOf: [multipleOf, double],
  maximum: [maximum, double],
  exclusiveMaximum: [maximum + 1, bool],
  minimum: [maximum + 2, double],
  exclusiveMinimum: [maximum + 3, bool],
  maxLength: [maximum + 4, integer],
  minLength: [maximum + 5, integer],
  pattern: [maximum + 6, text],
  maxItems: [maximum + 7, integer],
  minItems: [maximum + 8, integer],
  uniqueItems: [maximum + 9, bool],
  maxProperties: [maxProperties, integer],
  minProperties: [maxProperties + 1, integer],
});

// ---- version 2 -------------------------------------------------------------------------------------------------

const schemaV2: Write = message(
  () => ({
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    ...bounds(6, 7, 17),
    required: [19, each(text)],
    enum: [20, each(any)],
    additionalProperties: [21, choose((value) => (typeof value === 'boolean' ? wrapped(2, bool) : wrapped(1, schemaV2)))],
    type: [22, wrapped(1, each(text))],
    items: [23, wrapped(1, each(schemaV2))],
    allOf: [24, each(schemaV2)],
    properties: [25, mapOf(schemaV2)],
    readOnly: [27, bool],
  }),
  31,
);
const referenceV2 = message(() => ({ $ref: [1, text] }));
const bodyV2 = message(() => ({ description: [1, text], name: [2, text], in: [3, text], required: [4, bool], schema: [5, schemaV2] }), 6);
const parameterFields: Fields = { required: [1, bool], in: [2, text], description: [3, text], name: [4, text] };
const queryV2 = message(() => ({ ...parameterFields, type: [6, text], format: [7, text], uniqueItems: [20, bool] }), 23);
const pathV2 = message(() => ({ ...parameterFields, type: [5, text], format: [6, text], uniqueItems: [19, bool] }), 22);
/** A parameter has two wrappers: of the body or not, of the query or the path. */
const plainParameterV2 = choose((value) => {
  const place = (value as JsonObject).in;
  return place === 'body' ? wrapped(1, bodyV2) : wrapped(2, place === 'path' ? wrapped(4, pathV2) : wrapped(3, queryV2));
});
/** In an operation a third one: a reference or not. */
const parameterV2 = choose((value) => (isRef(value) ? wrapped(2, referenceV2) : wrapped(1, plainParameterV2)));
const responseV2 = wrapped(
  1,
  message(() => ({ description: [1, text], schema: [2, wrapped(1, schemaV2)] }), 5),
);
const operationV2 = message(
  () => ({
    tags: [1, each(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, each(text)],
    consumes: [7, each(text)],
    parameters: [8, each(parameterV2)],
    responses: [9, wrapped(1, withItemName(responseV2))],
    schemes: [10, each(text)],
  }),
  13,
);
const pathItemV2 = message(
  () => ({
    get: [2, operationV2],
    put: [3, operationV2],
    post: [4, operationV2],
    delete: [5, operationV2],
    options: [6, operationV2],
    head: [7, operationV2],
    patch: [8, operationV2],
    parameters: [9, each(parameterV2)],
  }),
  10,
);
const requirement = wrapped(1, withItemName(wrapped(1, each(text))));
const apiKeyV2 = message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }));
const documentV2 = message(() => ({
  swagger: [1, text],
  info: [2, message(() => ({ title: [1, text], version: [2, text], description: [3, text] }))],
  paths: [8, wrapped(2, withItemName(pathItemV2))],
  definitions: [9, mapOf(schemaV2)],
  parameters: [10, mapOf(plainParameterV2)],
  security: [12, each(requirement)],
  securityDefinitions: [13, mapOf(wrapped(2, apiKeyV2))],
}));

// ---- version 3 -------------------------------------------------------------------------------------------------

const reference = message(() => ({ $ref: [1, text], description: [3, text] }));
const schemaOrRef: Write = choose((value) => (isRef(value) ? wrapped(2, reference) : wrapped(1, schemaV3)));
/** The protobuf form has plain values as defaults only. */
const defaultV3: Write = (out, tag, value) => {
  if (isNumeric(value)) wrapped(1, double)(out, tag, value);
  else if (typeof value === 'boolean') wrapped(2, bool)(out, tag, value);
  else if (typeof value === 'string') wrapped(3, text)(out, tag, value);
};
const schemaV3: Write = message(
  () => ({
    nullable: [1, bool],
    readOnly: [3, bool],
    title: [9, text],
    ...bounds(10, 11, 21),
    required: [23, each(text)],
    enum: [24, each(any)],
    type: [25, text],
    allOf: [26, each(schemaOrRef)],
    oneOf: [27, each(schemaOrRef)],
    anyOf: [28, each(schemaOrRef)],
    not: [29, schemaV3],
    items: [30, wrapped(1, each(schemaOrRef))],
    properties: [31, mapOf(schemaOrRef)],
    additionalProperties: [32, choose((value) => (typeof value === 'boolean' ? wrapped(2, bool) : wrapped(1, schemaOrRef)))],
    default: [33, defaultV3],
    description: [34, text],
    format: [35, text],
  }),
  36,
);
const content = mapOf(message(() => ({ schema: [1, schemaOrRef] })));
const parameterV3 = wrapped(
  1,
  message(() => ({ name: [1, text], in: [2, text], description: [3, text], required: [4, bool], schema: [10, schemaOrRef] })),
);
const responseV3 = wrapped(
  1,
  message(() => ({ description: [1, text], content: [3, content] })),
);
const operationV3 = message(
  () => ({
    tags: [1, each(text)],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, each(parameterV3)],
    requestBody: [
      7,
      wrapped(
        1,
        message(() => ({ description: [1, text], content: [2, content], required: [3, bool] })),
      ),
    ],
    responses: [8, wrapped(2, withItemName(responseV3))],
  }),
  13,
);
const pathItemV3 = message(
  () => ({
    get: [4, operationV3],
    put: [5, operationV3],
    post: [6, operationV3],
    delete: [7, operationV3],
    options: [8, operationV3],
    head: [9, operationV3],
    patch: [10, operationV3],
    parameters: [13, each(parameterV3)],
  }),
  14,
);
const schemeV3 = wrapped(
  1,
  message(() => ({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] })),
);
const documentV3 = message(() => ({
  openapi: [1, text],
  info: [2, message(() => ({ title: [1, text], description: [2, text], version: [6, text] }))],
  paths: [4, wrapped(1, withItemName(pathItemV3))],
  components: [5, message(() => ({ schemas: [1, mapOf(schemaOrRef)], securitySchemes: [7, mapOf(schemeV3)] }))],
  security: [6, each(requirement)],
}));

/** Paths and definitions that are written in one turn of the event loop. */
const SLICE = 40;

/** A document split into parts; the document is consumed. Their bytes concatenated are the bytes of the whole: repeated messages are merged. */
function* slices(document: JsonObject, maps: readonly (readonly string[])[]): Generator<JsonObject> {
  const rest = document;
  for (const path of maps) {
    const key = path[path.length - 1] as string;
    const holder = path.slice(0, -1).reduce<JsonObject>((object, name) => own(object, name) as JsonObject, rest);
    const entries = Object.entries((own(holder, key) ?? {}) as JsonObject);
    delete holder[key];
    for (let i = 0; i < entries.length; i += SLICE) {
      const part: JsonValue = Object.fromEntries(entries.slice(i, i + SLICE));
      yield path.reduceRight<JsonValue>((inside, name) => ({ [name]: inside }), part) as JsonObject;
    }
  }
  yield rest;
}

async function bytesOf(write: Write, document: JsonObject, maps: readonly (readonly string[])[]): Promise<Buffer> {
  const out = new BackwardWriter();
  const parts: Buffer[] = [];
  for (const slice of slices(document, maps)) {
    await nextTurn();
    out.reset();
    write(out, 1, slice);
    const all = out.bytes();
    // A part is preceded by its tag and its length, of one to five bytes.
    let start = 1;
    while ((all[start] as number) >= 0x80) start++;
    parts.push(all.subarray(start + 1));
  }
  return Buffer.concat(parts);
}
export const binaryV2 = (document: JsonObject): Promise<Buffer> => bytesOf(documentV2, document, [['paths'], ['definitions']]);
/** The document of this JSON text. */
export async function binaryOfV3(text: Buffer): Promise<Buffer> {
  return bytesOf(documentV3, await parsedText(text, new Slices()), [['paths'], ['components', 'schemas']]);
}
