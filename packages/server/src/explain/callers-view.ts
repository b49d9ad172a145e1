/**
 * The objects of the server as one caller may read them. Every read is authorized as a request of the caller would be:
 *
 *   get    an object that the caller may not get is neither there nor absent: `isKnown` is false, and it is counted as unread
 *   list   a kind that the caller may not list is empty, and the answer says that it is not complete
 *
 * The number of objects that are looked at for one question is bounded, and so is the text of those that are parsed. What is beyond it is
 * not looked at, and the answer says so.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { SLICED_FROM, type Slices } from '@plat-dev/lib/slices';
import { forbidden, notFound } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import type { Item } from '@plat-dev/storage/item';
import { forbiddenMessage } from '../auth/authz/refusal.ts';
import { isAllowed } from '../auth/explain/access-explanation.ts';
import type { Attributes, Authorizer, User } from '../auth/types.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';
import { keyOf } from '../registry/context.ts';
import { missing } from '../registry/unreadable.ts';
import { parsedText } from '../registry/versions.ts';

/** Objects that are looked at for one question. */
export const MOST_OBJECTS = 20_000;
/** Text of the objects that one question parses, all of which it may hold until its end. */
export const MOST_BYTES = 32 * 2 ** 20;

export interface ViewSources {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly authorizers: readonly Authorizer[];
  readonly now: () => number;
  readonly mostObjects?: number;
}

/** `isKnown` without an object: there is none. */
export interface Seen<T extends ApiObject = ApiObject> {
  readonly object?: T;
  readonly isKnown: boolean;
}
/** `isWhole`: there are no others. */
export interface Listed<T extends ApiObject = ApiObject> {
  readonly objects: readonly T[];
  readonly isWhole: boolean;
}
/** An object that an explanation is about, with its resource. */
export interface Target<T extends ApiObject = ApiObject> {
  readonly resource: Resource;
  readonly object: T;
}

const unknown: Seen<never> = { isKnown: false };
/** The caller may not read it. */
const unread: Seen<never> = { isKnown: false };

export class CallersView {
  readonly identity: Identity;
  readonly catalog: Catalog;
  /** What was not looked at, in words. */
  readonly incomplete = new Set<string>();
  private readonly sources: ViewSources;
  private readonly user: User;
  /** For long work of this question. */
  readonly slices: Slices;
  private readonly unreadKeys = new Set<string>();
  private readonly rights = new Map<string, boolean>();
  /** What one question lists twice is looked at once. */
  private readonly lists = new Map<string, Listed>();
  private readonly gets = new Map<string, Seen>();
  private remaining: number;
  private remainingBytes = MOST_BYTES;

  constructor(sources: ViewSources, user: User, slices: Slices) {
    this.identity = sources.identity;
    this.catalog = sources.catalog;
    this.sources = sources;
    this.user = user;
    this.slices = slices;
    this.remaining = sources.mostObjects ?? MOST_OBJECTS;
  }
  get now(): number {
    return this.sources.now();
  }
  /** How many objects are referred to that the caller may not read. */
  get unread(): number {
    return this.unreadKeys.size;
  }

  builtin(base: string, plural: string): Resource {
    return this.catalog.builtin(base, plural);
  }
  /** A served resource by the full name of its group. */
  resource(group: string, plural: string): Resource | undefined {
    for (const { kind, resources } of this.catalog.all())
      if (kind.plural === plural) for (const one of resources) if (one.group === group) return one;
    return undefined;
  }
  /** Resources whose objects are stored, each once. */
  *storedResources(): Iterable<Resource> {
    for (const { kind, resources } of this.catalog.all()) {
      const [first] = resources;
      if (first?.collection !== undefined && kind.sharesStoreOf === undefined) yield first;
    }
  }

  /** The object that the question is about. Throws as the request to get it would. */
  async asked(resource: Resource, namespace: string, name: string): Promise<Target> {
    const attributes = this.attributes('get', resource, namespace, name);
    if (!(await isAllowed(this.sources.authorizers, attributes))) {
      const { group, resource: plural } = attributes;
      throw forbidden({ group, resource: plural }, name, forbiddenMessage(attributes, ''));
    }
    const item = await this.item(resource, namespace, name);
    if (item === undefined)
      throw resource.collection === undefined ? notFound(resource.resource, name) : missing({ resource, namespace, name });
    return { resource, object: await this.parse(item) };
  }
  async get<T extends ApiObject>(resource: Resource, namespace: string, name: string): Promise<Seen<T>> {
    await this.pause();
    const key = `${resource.group}/${resource.kind.plural}/${namespace}/${name}`;
    const seen = this.gets.get(key) ?? (await this.getOnce(resource, namespace, name));
    this.gets.set(key, seen);
    if (seen === unread) this.unreadKeys.add(key);
    return seen as Seen<T>;
  }
  private async getOnce(resource: Resource, namespace: string, name: string): Promise<Seen> {
    if (!(await this.may('get', resource, namespace, name))) return unread;
    if (!this.takeOne()) return unknown;
    const item = await this.item(resource, namespace, name);
    if (item === undefined) return { isKnown: true };
    return this.takeBytes(item) ? { isKnown: true, object: await this.parse(item) } : unknown;
  }
  /** Objects of a kind, in a namespace or in all; `mentioning`: only those whose text holds it. */
  async list<T extends ApiObject>(resource: Resource, namespace?: string, mentioning?: string): Promise<Listed<T>> {
    const key = `${resource.group}/${resource.kind.plural}/${namespace ?? '*'}/${mentioning ?? ''}`;
    const listed = this.lists.get(key) ?? (await this.listOnce(resource, namespace, mentioning));
    this.lists.set(key, listed);
    return listed as Listed<T>;
  }
  private async listOnce(resource: Resource, namespace: string | undefined, mentioning: string | undefined): Promise<Listed> {
    if (!(await this.may('list', resource, namespace ?? '', ''))) {
      const place = namespace === undefined || !resource.kind.namespaced ? '' : ` in namespace ${namespace}`;
      this.incomplete.add(`you may not list ${resource.kind.plural}${place}`);
      return { objects: [], isWhole: false };
    }
    const { collection } = resource;
    await collection?.pending?.();
    const items =
      collection === undefined
        ? []
        : namespace === undefined || !resource.kind.namespaced
          ? collection.items.all()
          : collection.items.withPrefix(`${namespace}/`);
    const objects: ApiObject[] = [];
    for (const item of items) {
      if (!this.takeOne()) return { objects, isWhole: false };
      if (mentioning === undefined || item.bytes.includes(mentioning)) {
        if (!this.takeBytes(item)) return { objects, isWhole: false };
        objects.push(await this.parse(item));
      }
      await this.pause();
    }
    return { objects, isWhole: true };
  }

  /** Lets others have their turn where the question has lasted for long enough. */
  async pause(): Promise<void> {
    if (this.slices.due) await this.slices.pause();
  }
  /** Those of many that are selected, looked at in slices. */
  async filter<T>(all: readonly T[], selects: (one: T) => boolean): Promise<T[]> {
    const selected: T[] = [];
    for (const one of all) {
      if (selects(one)) selected.push(one);
      await this.pause();
    }
    return selected;
  }

  private takeOne(): boolean {
    if (this.remaining > 0) {
      this.remaining--;
      return true;
    }
    this.incomplete.add(`only ${this.sources.mostObjects ?? MOST_OBJECTS} objects are looked at for one question`);
    return false;
  }
  private takeBytes({ bytes }: Item): boolean {
    this.remainingBytes -= bytes.length;
    if (this.remainingBytes >= 0) return true;
    this.incomplete.add(`only ${MOST_BYTES / 2 ** 20} MiB of objects are looked at for one question`);
    return false;
  }
  private async item(resource: Resource, namespace: string, name: string): Promise<Item | undefined> {
    const { collection } = resource;
    const key = keyOf({ resource, namespace, name });
    if (collection?.pending !== undefined) await collection.look(key);
    return collection?.items.get(key);
  }
  private async parse({ bytes }: Item): Promise<ApiObject> {
    return (await parsedText(bytes, bytes.length > SLICED_FROM ? this.slices : undefined)) as unknown as ApiObject;
  }
  private async may(verb: 'get' | 'list', resource: Resource, namespace: string, name: string): Promise<boolean> {
    const key = `${verb} ${resource.group}/${resource.kind.plural}/${namespace}/${name}`;
    let isAllowedHere = this.rights.get(key);
    if (isAllowedHere === undefined) {
      isAllowedHere = await isAllowed(this.sources.authorizers, this.attributes(verb, resource, namespace, name));
      this.rights.set(key, isAllowedHere);
    }
    return isAllowedHere;
  }
  private attributes(verb: string, { group, version, kind }: Resource, namespace: string, name: string): Attributes {
    return {
      user: this.user,
      verb,
      group,
      version,
      resource: kind.plural,
      subresource: '',
      name,
      namespace: kind.namespaced ? namespace : '',
      path: '',
      resourceRequest: true,
    };
  }
}
