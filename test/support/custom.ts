/** Kinds that a test defines. */
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { groupName } from '../../packages/meta/src/identity.ts';
import type { Loose, TestServer } from './server.ts';

/** The features of a server that enforces the rules of schemas. */
export const withRules = readFeatureGates(new Map([['CustomResourceValidationExpressions', 'true']]));

export interface CustomVersion {
  readonly name?: string;
  readonly schema?: object;
  /** What else the definition says of the version: columns, subresources, storage … */
  readonly [more: string]: unknown;
}

/** A definition; of versions that do not say otherwise the first is stored and all are served. */
export function definitionOf(
  server: TestServer,
  group: string,
  kind: string,
  versions: readonly CustomVersion[],
  spec: object = {},
): Loose {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: `${groupName(server.identity, 'apiextensions')}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: versions.map(({ name = 'v1', schema = { type: 'object' }, ...more }, i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: schema },
        ...more,
      })),
      ...spec,
    },
  };
}

export const definitionsPath = (server: TestServer): string =>
  `/apis/${groupName(server.identity, 'apiextensions')}/v1/customresourcedefinitions`;

/** Makes a definition and waits until it is served. */
export async function define(server: TestServer, definition: Loose): Promise<void> {
  const path = definitionsPath(server);
  const { metadata } = await server.admin.ok('POST', path, definition);
  const watch = await server.admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3D${metadata.name}`);
  await watch.until(({ object }) => object.status?.conditions?.some((one: Loose) => one.type === 'Established' && one.status === 'True'));
  watch.close();
}
