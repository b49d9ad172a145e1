/** Writes that the server makes on its own account: the objects of the first start. They pass no admission. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import { ApiError } from '@plat-dev/meta/errors';
import { timeMillis } from '@plat-dev/meta/time';
import { applyDefaults, decode } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { Collection } from '@plat-dev/storage/collection';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';
import type { Facts, Item } from '@plat-dev/storage/item';
import { admissionChain } from '../admission/chain.ts';
import type { User } from '../auth/types.ts';
import type { Resource } from './catalog.ts';
import { encodeBounded, noteOf, storeKey } from './commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from './context.ts';
import { create } from './create.ts';
import type { DeleteOptions } from './delete-options.ts';
import { recordOwners } from './ownership.ts';
import { PLACEHOLDER_TIME, PLACEHOLDER_UID, PreparedObject, preparedObject } from './prepared.ts';
import { copyForStatus, copyOf } from './recent.ts';
import { remove } from './remove.ts';
import { unreadableAt } from './unreadable.ts';
import { update } from './update.ts';
import { parseItem } from './versions.ts';

const systemUser: User = { name: 'system:apiserver', uid: '', groups: ['system:masters', 'system:authenticated'] };
const noAdmission = admissionChain([]);
/** Objects that are created in one commit: etcd takes 128 operations. */
const MAX_TOGETHER = 100;

/** An object as code writes it, without kind and version. */
export interface NewObject {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

export class SystemWriter {
  private readonly deps: RegistryDeps;
  private readonly manager: string;
  private readonly settings: string;

  /** `settings`: the settings of the server that the stored form of an object depends on, as text. */
  constructor(deps: RegistryDeps, manager: string, settings = '') {
    this.deps = { ...deps, admission: noAdmission };
    this.manager = manager;
    this.settings = settings;
  }

  private context(resource: Resource, namespace: string, name: string): WriteContext {
    return {
      resource,
      namespace,
      name,
      subresource: '',
      user: systemUser,
      dryRun: false,
      manager: this.manager,
      options: {},
      warn: () => {},
      annotate: () => {},
    };
  }

  /** Brings an object as code writes it into its normal form, with defaults. */
  private complete(resource: Resource, object: object): ApiObject {
    const complete = decode(resource.schema, object) as ApiObject;
    complete.kind = resource.kind.kind;
    complete.apiVersion = resource.apiVersion;
    applyDefaults(resource.schema, complete as never);
    resource.definition.defaults?.(complete as never, this.deps.env);
    return complete;
  }

  /** An object as code writes it, as it would be stored. */
  normalForm(group: string, plural: string, object: NewObject): ApiObject {
    return this.complete(this.deps.catalog.builtin(group, plural), object);
  }

  find(group: string, plural: string, namespace: string, name: string): Item | undefined {
    const resource = this.deps.catalog.builtin(group, plural);
    return resource.collection?.items.get(keyOf({ resource, namespace, name }));
  }

  /** A private copy of an object in hub form. */
  read(group: string, plural: string, namespace: string, name: string): ApiObject | undefined {
    const item = this.find(group, plural, namespace, name);
    return item === undefined ? undefined : this.deps.catalog.builtin(group, plural).versions.decodeNow(item);
  }

  /** `preconditions`: what the object must still be. */
  remove(group: string, plural: string, namespace: string, name: string, preconditions?: DeleteOptions['preconditions']): Promise<void> {
    return this.removeFrom(this.deps.catalog.builtin(group, plural), namespace, name, preconditions);
  }
  async removeFrom(resource: Resource, namespace: string, name: string, preconditions?: DeleteOptions['preconditions']): Promise<void> {
    const options = preconditions === undefined ? {} : { preconditions };
    await remove(this.deps, { ...this.context(resource, namespace, name), asStored: true }, options);
  }

  /** Creates the object unless one of that name exists. Returns whether it did. */
  async ensure(group: string, plural: string, object: NewObject): Promise<boolean> {
    const resource = this.deps.catalog.builtin(group, plural);
    const { name = '', namespace = '' } = object.metadata;
    await lookUp({ resource, namespace, name });
    if (this.find(group, plural, namespace, name) !== undefined) return false;
    try {
      await create(this.deps, this.context(resource, namespace, ''), this.complete(resource, object));
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') return false;
      throw error;
    }
    if (resource.kind.subresources.status !== undefined) await this.writeStatus(resource, namespace, name, this.complete(resource, object));
    return true;
  }

  /**
   * Creates the objects of which none of that name exists, many in one commit. Returns how many it created. `time` is the time of
   * now as the objects name it.
   */
  async ensureAll(group: string, plural: string, objects: readonly NewObject[], time: string): Promise<number> {
    const resource = this.deps.catalog.builtin(group, plural);
    if (resource.collection?.pending !== undefined)
      await Promise.all(objects.map(({ metadata: { name = '', namespace = '' } }) => lookUp({ resource, namespace, name })));
    const missing = objects.filter(({ metadata: { name = '', namespace = '' } }) => {
      const target = { resource, namespace, name };
      return resource.collection?.items.get(keyOf(target)) === undefined && unreadableAt(target) === undefined;
    });
    const creations: Promise<number>[] = [];
    for (let from = 0; from < missing.length; from += MAX_TOGETHER)
      creations.push(this.createTogether(group, plural, missing.slice(from, from + MAX_TOGETHER), time));
    return (await Promise.all(creations)).reduce((a, b) => a + b, 0);
  }
  private async createTogether(group: string, plural: string, objects: readonly NewObject[], time: string): Promise<number> {
    const resource = this.deps.catalog.builtin(group, plural);
    const operations: Operation[] = [];
    const facts: Facts[] = [];
    for (const object of objects) {
      const { name = '', namespace = '' } = object.metadata;
      const preparedItem = await this.prepared(resource, object, time);
      const value = preparedItem.with(this.deps.newUid(), time);
      const context = this.context(resource, namespace, name);
      const key = storeKey(context);
      operations.push({ type: 'put', key, value, expect: 0, note: noteOf(this.deps, context, key, 'create') });
      facts.push({ labels: preparedItem.labels, fields: preparedItem.fields, read: resource.read });
    }
    try {
      await this.deps.cache.commit(operations, facts);
      return objects.length;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
    // Another server creates them at the same time.
    const wereCreated = await Promise.all(objects.map((object) => this.ensure(group, plural, object)));
    return wereCreated.filter(Boolean).length;
  }

  /** The stored form of a new object, except for its uid and the time. */
  private prepared(resource: Resource, object: NewObject, time: string): Promise<PreparedObject> {
    const text = JSON.stringify(object).replaceAll(time, PLACEHOLDER_TIME);
    const key = `${this.settings}\n${this.manager}\n${resource.apiVersion} ${resource.kind.plural}\n${text}`;
    return preparedObject(key, () => this.prepare(resource, parseExact(text) as NewObject));
  }
  private async prepare(resource: Resource, object: NewObject): Promise<PreparedObject> {
    const env = { ...this.deps.env, now: () => timeMillis(PLACEHOLDER_TIME) };
    const deps = { ...this.deps, env, newUid: () => PLACEHOLDER_UID };
    const context = { ...this.context(resource, object.metadata.namespace ?? '', ''), dryRun: true };
    const item = await create(deps, context, this.complete(resource, object));
    const createdObject = resource.versions.normalize(parseItem(item));
    const { status } = this.complete(resource, object) as { status?: object };
    // As `ensure` does, which writes the status on its own.
    const hasStatus = resource.kind.subresources.status !== undefined && status !== undefined && Object.keys(status).length > 0;
    const storedObject = hasStatus ? ({ ...createdObject, status } as ApiObject) : createdObject;
    const facts = (resource.collection as Collection).factsOf(storedObject);
    return new PreparedObject(encodeBounded(deps, resource, storedObject), facts);
  }

  /** Kinds forget the status that comes with a new object; what the server says of its own objects stays. */
  private async writeStatus(
    resource: Resource,
    namespace: string,
    name: string,
    desiredStatus: ApiObject & { status?: object },
  ): Promise<void> {
    const { status } = desiredStatus;
    if (status === undefined || Object.keys(status).length === 0) return;
    const context = { ...this.context(resource, namespace, name), subresource: 'status' };
    await update(this.deps, context, { change: async (live) => ({ ...structuredClone(live), status }) as ApiObject });
  }

  /**
   * Changes an object that exists, or one of its subresources; `change` works on the hub form and may be asked more than
   * once. Most starts find everything as it should be, which is seen without the work of an update.
   */
  async change(
    group: string,
    plural: string,
    namespace: string,
    name: string,
    change: (object: ApiObject) => void,
    subresource = '',
  ): Promise<void> {
    const resource = this.deps.catalog.builtin(group, plural);
    await lookUp({ resource, namespace, name });
    const slices = slicesFor(this.find(group, plural, namespace, name));
    // What a large object should be is found once, in slices; an update that changes nothing writes nothing.
    const currentObject = slices === undefined ? this.read(group, plural, namespace, name) : undefined;
    // An object that cannot be read stops no start; it was logged when it was set aside.
    if (currentObject === undefined && unreadableAt({ resource, namespace, name }) !== undefined) return;
    if (currentObject !== undefined) {
      change(currentObject);
      if (equal(currentObject, this.read(group, plural, namespace, name))) return;
    }
    const context: WriteContext = {
      ...this.context(resource, namespace, name),
      subresource,
      ...(slices !== undefined && { request: { slices: () => slices } }),
    };
    await update(this.deps, context, {
      change: async (live) => {
        // What a status does not touch may be a megabyte.
        const object = subresource === 'status' ? copyForStatus(live) : copyOf(live);
        change(object);
        if (resource.isHub) await recordOwners(this.deps, context, object, live);
        return object;
      },
    });
  }
}

/** Slices for work on an object that is large, as requests have them. */
function slicesFor(item: Item | undefined): Slices | undefined {
  return item !== undefined && item.bytes.length > SLICED_FROM ? new Slices() : undefined;
}
