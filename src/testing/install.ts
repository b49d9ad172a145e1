/** The objects that a test server begins with. */
import { manifestsOf, readManifests } from '../cli/manifests.ts';
import { ApiError } from '../meta/errors.ts';
import type { TestClient } from './client/types.ts';
import type { ManifestObject, Manifests, TestServerOptions } from './options.ts';
import type { TestServer } from './server.ts';

/** Makes the definitions, then the objects. Closes the server where that fails. */
export async function install(server: TestServer, { crds, objects }: Pick<TestServerOptions, 'crds' | 'objects'>): Promise<TestServer> {
  if (crds === undefined && objects === undefined) return server;
  try {
    const client = server.client();
    await Promise.all((await read(crds, 'crds')).map((crd) => define(client, crd)));
    const made = await read(objects, 'objects');
    const isNamespace = ({ apiVersion, kind }: ManifestObject): boolean => apiVersion === 'v1' && kind === 'Namespace';
    for (const object of [...made.filter(isNamespace), ...made.filter((one) => !isNamespace(one))]) await make(client, object);
    // A test is not to see the requests of its own preparation.
    server.requests.clear();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function define(client: TestClient, crd: ManifestObject): Promise<void> {
  if (crd.kind !== 'CustomResourceDefinition') throw new Error(`crds: a ${crd.kind} is no CustomResourceDefinition: put it into objects`);
  await client.waitFor(await make(client, crd), 'Established');
}

async function make<T extends ManifestObject>(client: TestClient, object: T): Promise<T> {
  try {
    return (await client.create(object)) as T;
  } catch (error) {
    const { name = '?' } = (object as { metadata?: { name?: string } }).metadata ?? {};
    const failed = `cannot make ${object.kind} ${name}: ${(error as Error).message}`;
    throw error instanceof ApiError
      ? Object.assign(new ApiError(error.code, error.reason, failed, error.details), { cause: error })
      : error;
  }
}

/** A path has one line; a text that holds an object has a colon, and most have several lines. */
const isText = (given: string): boolean => given.includes('\n') || given.trimStart().startsWith('{');

async function read(given: Manifests | undefined, option: string): Promise<ManifestObject[]> {
  if (given === undefined) return [];
  const found: ManifestObject[] = [];
  const all: readonly (string | ManifestObject)[] = Array.isArray(given) ? given : [given as string | ManifestObject];
  for (const one of all) {
    if (typeof one !== 'string') found.push(one);
    else if (isText(one)) found.push(...manifestsOf(one, option).map(({ object }) => object));
    else found.push(...(await readManifests([one], false, files)).map(({ object }) => object));
  }
  return found;
}
const files = {
  get cwd() {
    return process.cwd();
  },
  stdin: () => Promise.reject(new Error('objects are not read from the standard input')),
};
