/** Both releases of the documents, in both identities, describe all that they publish. */

import { type Identity, kubernetes, plat } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { beforeAll, describe, expect, test } from 'vitest';
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

const fillers = new Set('a an the of this that its it is to be for in object field value given'.split(' '));
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
/** Whether a text says no more than the name: `The name.`, `The user name of this object.` */
function saysOnly(name: string, text: string): boolean {
  const known = name.toLowerCase();
  return wordsOf(text).every((word) => known.includes(word.replace(/s$/, '')) || fillers.has(word));
}

describe.each([kubernetes, plat])('identity $word', (identity) => {
  let texts: Text[];
  beforeAll(async () => {
    texts = (await documentsOf(identity)).flatMap((document) => [...textsOf(document)]);
  });

  test('there are no definitions, properties, operations or parameters without a description', () => {
    expect(texts.length).toBeGreaterThan(20_000);
    expect(texts.filter(({ text }) => typeof text !== 'string' || text.trim() === '').map(({ where }) => where)).toEqual([]);
  });

  test('items of lists are described in few words, as scripts look for them: List of services.', () => {
    const items = texts.filter(({ where }) => /\w+List items$/.test(where));
    expect(items.length).toBeGreaterThan(90);
    expect(items.filter(({ text }) => !/^List of ([a-zA-Z]+ ){0,4}[a-zA-Z]+\.$/.test(String(text)))).toEqual([]);
    const described = new Map(items.map(({ where, text }) => [where.replace(/^.*\.(\w+) items$/, '$1'), text]));
    expect(
      ['Service', 'Endpoints', 'ComponentStatus', 'NetworkPolicy', 'CSIStorageCapacity', 'APIService', 'IngressClass'].map((kind) =>
        described.get(`${kind}List`),
      ),
    ).toEqual([
      'List of services.',
      'List of endpoints.',
      'List of component statuses.',
      'List of network policies.',
      'List of CSI storage capacities.',
      'List of API services.',
      'List of ingress classes.',
    ]);
  });

  test('a description says more than the name that it describes', () => {
    const bare = texts.filter(({ name, text }) => name !== '' && saysOnly(name, String(text)));
    expect(bare.map(({ where, text }) => `${where}: ${text}`)).toEqual([]);
  });
});

test('the rule for bare descriptions', () => {
  const bare = [
    ['name', 'The name.'],
    ['podIPs', 'The pod IPs of this object.'],
    ['namespaces', 'namespace'],
    ['image', ''],
  ] as const;
  for (const [name, text] of bare) expect([name, text, saysOnly(name, text)]).toEqual([name, text, true]);
  expect(saysOnly('name', 'The name of the volume, unique within the pod.')).toBe(false);
  expect(saysOnly('image', 'The container image to run.')).toBe(false);
});
