/** Operations and paths as the two OpenAPI versions write them. */
import { setOwn } from '@plat-dev/lib/own';
import { type Identity, kindExtensionPrefixes } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { type Operation, type Parameter, type PathItem, responseWords } from './model.ts';
import type { SharedParameters } from './shared-parameters.ts';

/** Writes paths; `ref` turns the name of a definition into a reference. */
export interface PathWriter {
  paths(items: readonly PathItem[]): JsonObject;
}

/** Extensions with the action of an operation, and its kind. */
function extensions(identity: Identity, operation: Operation): JsonObject {
  const extensionFields: JsonObject = {};
  if (operation.action !== undefined) extensionFields[`${identity.schemaExtensionPrefix}action`] = operation.action;
  if (operation.kind !== undefined)
    for (const prefix of kindExtensionPrefixes(identity)) extensionFields[`${prefix}group-version-kind`] = { ...operation.kind };
  return extensionFields;
}

/** The content of a request body. */
function bodyWords({ action, kind }: Operation): string {
  if (action === 'patch') return 'The change, in the form that the media type of the request names.';
  if (action === 'delete' || action === 'deletecollection')
    return 'Options of the deletion, instead of or in addition to those of the query.';
  return `The ${kind?.kind ?? 'object'} to ${action === 'put' ? 'store in place of the present one' : 'create'}.`;
}

const pathsOf = (
  items: readonly PathItem[],
  parameter: (p: Parameter) => JsonObject,
  operation: (o: Operation) => JsonObject,
): JsonObject => {
  const paths: JsonObject = {};
  for (const item of items) {
    const pathItems: JsonObject = {};
    for (const one of item.operations) pathItems[one.method] = operation(one);
    if (item.parameters.length > 0) pathItems.parameters = item.parameters.map(parameter);
    setOwn(paths, item.path, pathItems);
  }
  return paths;
};

/** `shared`: where the document has parameters apart from the operations that take them. */
export function writerV2(identity: Identity, shared?: SharedParameters): PathWriter {
  const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
  const share = (parameter: JsonObject): JsonObject => shared?.shared(parameter) ?? parameter;
  const parameter = ({ type, description, name, required, in: place }: Parameter): JsonObject =>
    share({ uniqueItems: true, type, description, name, in: place, ...(required && { required }) });
  const operation = (o: Operation): JsonObject => {
    const schema = o.answer === undefined ? { type: 'string' } : ref(o.answer);
    const body: JsonObject[] =
      o.body === undefined
        ? []
        : [share({ description: bodyWords(o), name: 'body', in: 'body', ...(o.bodyRequired && { required: true }), schema: ref(o.body) })];
    const parameters = [...body, ...o.parameters.map(parameter)];
    const responses: JsonObject = {};
    for (const code of o.codes) responses[code] = { description: responseWords[code] as string, schema };
    responses['401'] = { description: responseWords['401'] as string };
    return {
      description: o.description,
      consumes: [...(o.consumes ?? ['*/*'])],
      produces: [...o.produces],
      schemes: ['https'],
      tags: [o.tag],
      operationId: o.id,
      ...(parameters.length > 0 && { parameters }),
      responses,
      ...extensions(identity, o),
    };
  };
  return { paths: (items) => pathsOf(items, parameter, operation) };
}

export function writerV3(identity: Identity): PathWriter {
  const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
  const parameter = ({ type, description, name, required, in: place }: Parameter): JsonObject => ({
    name,
    in: place,
    description,
    ...(required && { required }),
    schema: { type, uniqueItems: true },
  });
  const contentOf = (types: readonly string[], schema: JsonValue): JsonObject =>
    Object.fromEntries(types.map((type) => [type, { schema }]));
  const operation = (o: Operation): JsonObject => {
    const schema = o.answer === undefined ? { type: 'string' } : ref(o.answer);
    const content = contentOf(o.produces, schema);
    const responses: JsonObject = {};
    for (const code of o.codes) responses[code] = { description: responseWords[code] as string, content };
    responses['401'] = { description: responseWords['401'] as string };
    return {
      tags: [o.tag],
      description: o.description,
      operationId: o.id,
      ...(o.parameters.length > 0 && { parameters: o.parameters.map(parameter) }),
      ...(o.body !== undefined && {
        requestBody: {
          description: bodyWords(o),
          ...(o.bodyRequired && { required: true }),
          content: contentOf(o.consumes ?? ['*/*'], ref(o.body)),
        },
      }),
      responses,
      ...extensions(identity, o),
    };
  };
  return { paths: (items) => pathsOf(items, parameter, operation) };
}
