/**
 * The verbs on a store in memory, without a server around them: no HTTPS, no admission, a clock that only the test moves.
 *
 *   const registry = await openRegistry();
 *   const made = await registry.create('configmaps', { metadata: { name: 'a' } });
 *   await registry.replace('configmaps', { ...made, data: { a: '1' } });
 *   expect(await refusal(registry.create('configmaps', { metadata: {} }))).toMatchObject({ code: 422 });
 */

import { builtinKinds } from '@plat-dev/kinds';
import { defaultFeatures } from '@plat-dev/kinds/feature-gates';
import { type ApiObject, releaseEnv } from '@plat-dev/kinds/kind';
import { FakeClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { applyDefaults, decode } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';
import { Cache } from '@plat-dev/storage/cache';
import type { Engine } from '@plat-dev/storage/engine';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import type { Item } from '@plat-dev/storage/item';
import { Catalog, type Resource } from './catalog.ts';
import type { RegistryDeps, WriteContext } from './context.ts';
import { create } from './create.ts';
import type { DeleteOptions } from './delete-options.ts';
import { newLargeObjectLocks } from './large-object-locks.ts';
import { type ListOptions, list } from './list.ts';
import { recordOwners } from './ownership.ts';
import { remove } from './remove.ts';
import { select } from './select.ts';
import { checkName, update } from './update.ts';
import { parseItem } from './versions.ts';

/** Any JSON; scripts write objects the way clients do. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
export type Loose = any;

export const NAMESPACE = 'shop';

interface WriteOptions {
  readonly dryRun?: boolean;
  readonly subresource?: string;
  /** Of the request; that of the object is its own affair. */
  readonly name?: string;
}

export interface Registry {
  readonly deps: RegistryDeps;
  readonly clock: FakeClock;
  create(resource: string, body: Loose, options?: WriteOptions): Promise<Loose>;
  replace(resource: string, body: Loose, options?: WriteOptions): Promise<Loose>;
  /** Returns the last state, and whether the object is gone. */
  remove(resource: string, name: string, options?: DeleteOptions & WriteOptions): Promise<{ object: Loose; removed: boolean }>;
  /** The stored object; undefined where there is none. */
  get(resource: string, name: string): Loose;
  list(resource: string, options?: Partial<ListOptions>): Promise<{ names: string[]; continue: string; remaining: number | undefined }>;
  /** The newest revision of the store. */
  revision(): number;
}

/** Resources are named as in `leases.coordination`, by base group, in the version in which they are stored. */
export async function openRegistry(feature = (gate: string): boolean => defaultFeatures.isOn(gate), store?: Engine): Promise<Registry> {
  const clock = new FakeClock();
  const random = seededRandom(testSeed);
  const cache = new Cache(store ?? openMemoryEngine({ clock }), clock, (error) => {
    throw error;
  });
  const catalog = new Catalog(kubernetes, cache, feature);
  catalog.declare(builtinKinds(kubernetes), () => true);
  await cache.start();
  const deps: RegistryDeps = {
    catalog,
    cache,
    env: { ...releaseEnv(), identity: kubernetes, now: () => clock.now(), feature, allowPrivileged: false },
    admission: { admit() {}, validate() {} },
    hooks: new Map(),
    monotonic: () => 0,
    largeObjectLocks: newLargeObjectLocks(),
    randomBelow: random.below,
    newUid: random.uuid,
    maxObjectBytes: 1.5 * 2 ** 20,
  };
  const find = (resource: string): Resource => {
    const [plural, base] = resource.split('.') as [string, string?];
    const found = catalog.builtin(base ?? '', plural);
    if (!found.isHub) throw new Error(`${resource} is stored in another version`);
    return found;
  };
  const context = (resource: Resource, name: string, { dryRun = false, subresource = '' }: WriteOptions): WriteContext => ({
    resource,
    namespace: resource.kind.namespaced ? NAMESPACE : '',
    name,
    subresource,
    user: { name: 'alice', groups: [] },
    dryRun,
    manager: 'script',
    options: {},
    warn() {},
    annotate() {},
  });
  const read = (resource: Resource, body: Loose): ApiObject => {
    const type = { apiVersion: resource.apiVersion, kind: resource.kind.kind };
    const object = decode(resource.schema, { ...type, ...structuredClone(body) } as JsonValue) as ApiObject;
    object.metadata ??= {};
    applyDefaults(resource.schema, object);
    resource.definition.defaults?.(object as never, deps.env);
    return object;
  };
  const shown = (item: Item): Loose => parseItem(item);
  return {
    deps,
    clock,
    async create(name, body, options = {}) {
      const resource = find(name);
      return shown(await create(deps, context(resource, options.name ?? '', options), read(resource, body)));
    },
    async replace(name, body, options = {}) {
      const resource = find(name);
      const write = context(resource, options.name ?? body.metadata.name, options);
      checkName(write, read(resource, body));
      const made = await update(deps, write, {
        change: async (live) => {
          const object = read(resource, body);
          await recordOwners(deps, write, object, live);
          return object;
        },
        ...(resource.kind.createOnUpdate && write.subresource === '' && { createAbsent: async () => read(resource, body) }),
        uidIsCondition: true,
        conflictIsFinal: (body.metadata.resourceVersion ?? '') !== '',
      });
      return shown(made.item);
    },
    async remove(resource, name, options = {}) {
      const { object, removed } = await remove(deps, context(find(resource), name, options), options);
      return { object, removed };
    },
    get(resource, name) {
      const { collection, kind } = find(resource);
      const item = collection?.items.get(kind.namespaced ? `${NAMESPACE}/${name}` : name);
      return item && shown(item);
    },
    async list(name, options = {}) {
      const resource = find(name);
      const wanted: ListOptions = { limit: 0, continue: '', resourceVersion: '', match: '', ...options };
      const result = await list(deps, resource, select(resource, resource.kind.namespaced ? NAMESPACE : ''), wanted);
      const names = result.items.map((item) => item.key.slice(item.key.indexOf('/') + 1));
      return { names, continue: result.continue, remaining: result.remaining };
    },
    revision: () => cache.revision,
  };
}

/** What a request is refused with. */
export async function refusal(request: Promise<unknown>): Promise<ApiError> {
  const answer = await request.catch((error: unknown) => error);
  if (answer instanceof ApiError) return answer;
  throw answer instanceof Error ? answer : new Error('the request was not refused');
}
