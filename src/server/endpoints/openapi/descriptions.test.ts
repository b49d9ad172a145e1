/** Both releases of the documents, in both identities, describe all that they publish. */
import { describe, expect, test } from 'vitest';
import { type Identity, kubernetes, plat } from '../../../identity.ts';
import type { JsonObject } from '../../../schema/types.ts';
import type { Endpoint } from '../endpoint.ts';
import { groupsOf, perGeneration } from '../groups.ts';
import { ask, testServices } from '../testing.ts';
import { openapiEndpoints } from './index.ts';

interface Described extends JsonObject {
  description: string;
}
interface Operation extends Described {
  operationId: string;
  parameters: Described[];
  requestBody: Described;
}
interface Document {
  readonly schemas: Record<string, Described & { properties?: Record<string, Described> }>;
  readonly paths: Record<string, Record<string, Operation | Described[]>>;
}

async function documentsOf(identity: Identity): Promise<Document[]> {
  const { services, catalog } = await testServices(identity, () => true);
  const groups = perGeneration(catalog, () => groupsOf(catalog));
  const endpoints = openapiEndpoints(services, groups, { version: 'v1.24.17', now: () => 0 });
  const get = async (path: string) =>
    JSON.parse((await ask((endpoints.get(path) ?? endpoints.get('/openapi/v3/')) as Endpoint, path)).text);
  const v2 = await get('/openapi/v2');
  const documents: Document[] = [{ schemas: v2.definitions, paths: v2.paths }];
  for (const name of Object.keys((await get('/openapi/v3')).paths)) {
    const { components, paths } = await get(`/openapi/v3/${name}`);
    documents.push({ schemas: components.schemas, paths });
  }
  return documents;
}

interface Text {
  readonly where: string;
  /** The name of what is described; none for operations, whose texts have a fixed form. */
  readonly name: string;
  readonly text: unknown;
}
/** Every place that should be described, with what is said there: `definition field` or `operation parameter`. */
function* textsOf({ schemas, paths }: Document): Generator<Text> {
  for (const [definition, schema] of Object.entries(schemas)) {
    yield { where: definition, name: definition.slice(definition.lastIndexOf('.') + 1), text: schema.description };
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      yield { where: `${definition} ${name}`, name, text: property.description };
    }
  }
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item)) {
      if (Array.isArray(operation)) yield* parametersOf(path, operation);
      else {
        yield { where: operation.operationId, name: '', text: operation.description };
        yield* parametersOf(operation.operationId, operation.parameters ?? []);
        if (operation.requestBody !== undefined)
          yield { where: `${operation.operationId} body`, name: 'body', text: operation.requestBody.description };
      }
    }
  }
}
function* parametersOf(where: string, parameters: readonly Described[]): Generator<Text> {
  for (const { name, description } of parameters) yield { where: `${where} ?${name}`, name: String(name), text: description };
}

describe.each([kubernetes, plat])('identity $word', (identity) => {
  const texts = documentsOf(identity).then((documents) => documents.flatMap((document) => [...textsOf(document)]));

  test('there are no definitions, properties, operations or parameters without a description', async () => {
    const all = await texts;
    expect(all.length).toBeGreaterThan(20_000);
    expect(all.filter(({ text }) => typeof text !== 'string' || text.trim() === '').map(({ where }) => where)).toEqual([]);
  });
});
