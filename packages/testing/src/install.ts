/** The objects that a test server starts with. */

import { manifestsOf, readManifests } from '@plat-dev/cli/objects/manifests';
import { groups } from '@plat-dev/client/typed/built-in';
import { systemClock } from '@plat-dev/lib/clock';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, type Identity, kubernetes } from '@plat-dev/meta/identity';
import type { TestClient } from './client/types.ts';
import type { ManifestObject, Manifests, TestServerOptions } from './options.ts';
import type { TestServer } from './test-server.ts';

/** Creates the definitions, then the objects. Closes the server if that fails. */
export async function install(server: TestServer, { crds, objects }: Pick<TestServerOptions, 'crds' | 'objects'>): Promise<TestServer> {
  if (crds === undefined && objects === undefined) return server;
  try {
    const client = server.client();
    const [definitions, manifestObjects] = [await read(crds, 'crds'), await read(objects, 'objects')];
    for (const object of definitions) checkIdentity(server.identity, object, 'crds');
    for (const object of manifestObjects) checkIdentity(server.identity, object, 'objects');
    await Promise.all(definitions.map((crd) => define(client, crd)));
    const isNamespace = ({ apiVersion, kind }: ManifestObject): boolean => apiVersion === 'v1' && kind === 'Namespace';
    for (const object of [...manifestObjects.filter(isNamespace), ...manifestObjects.filter((one) => !isNamespace(one))])
      await make(client, object);
    // The requests of the preparation are not listed.
    server.requests.clear();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Throws if a manifest has the group name of another identity. */
function checkIdentity(identity: Identity, { apiVersion, kind }: ManifestObject, option: string): void {
  const group = groupOfApiVersion(apiVersion ?? '');
  if (Object.values(groups).some((name) => name !== '' && groupName(kubernetes, name) === group && groupName(identity, name) !== group))
    throw new Error(
      `${option}: ${kind} is of ${apiVersion}, and the server has the identity ${identity.name}: start it with { identity: '${kubernetes.name}' }`,
    );
}

async function define(client: TestClient, crd: ManifestObject): Promise<void> {
  if (crd.kind !== 'CustomResourceDefinition')
    throw new Error(`crds: a ${crd.kind} is not a CustomResourceDefinition: put it into objects`);
  await client.waitFor(await make(client, crd), 'Established');
}

async function make<T extends ManifestObject>(client: TestClient, object: T): Promise<T> {
  try {
    return (await client.create(object)) as T;
  } catch (error) {
    const { name = '?' } = (object as { metadata?: { name?: string } }).metadata ?? {};
    const failed = `cannot create ${object.kind} ${name}: ${(error as Error).message}`;
    throw error instanceof ApiError
      ? Object.assign(new ApiError(error.code, error.reason, failed, error.details), { cause: error })
      : error;
  }
}

/** A path has one line; a text that holds an object has a colon, and most have several lines. */
const isText = (text: string): boolean => text.includes('\n') || text.trimStart().startsWith('{');

async function read(manifests: Manifests | undefined, option: string): Promise<ManifestObject[]> {
  if (manifests === undefined) return [];
  const manifestList: ManifestObject[] = [];
  const all: readonly (string | ManifestObject)[] = Array.isArray(manifests) ? manifests : [manifests as string | ManifestObject];
  for (const one of all) {
    if (typeof one !== 'string') manifestList.push(one);
    else if (isText(one)) manifestList.push(...manifestsOf(one, option).map(({ object }) => object));
    else manifestList.push(...(await readManifests([one], false, files)).map(({ object }) => object));
  }
  return manifestList;
}
const files = {
  get cwd() {
    return process.cwd();
  },
  stdin: () => Promise.reject(new Error('objects are not read from the standard input')),
  clock: systemClock,
};
