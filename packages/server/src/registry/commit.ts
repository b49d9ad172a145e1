/** The last steps of every write: hooks, the commit itself, and the item for the response. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { frozen } from '@plat-dev/lib/frozen';
import { atOnce, inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import { requestTooLarge } from '@plat-dev/meta/errors';
import { encode, encodedBytes, TextTooLong } from '@plat-dev/schema/json';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';
import type { Facts, Item } from '@plat-dev/storage/item';
import { HEADER, itemFromStored } from '@plat-dev/storage/item';
import type { AdmissionRequest, CommitStep, SideWrite } from '../admission/types.ts';
import { encodeNote, type WriteOrigin } from '../history/note.ts';
import { prefixOf, type Resource } from './catalog.ts';
import { keyOf, type RegistryDeps, type Target, type WriteContext } from './context.ts';
import type { Hook } from './hooks.ts';

/** The key of a target's object in the store. */
export const storeKey = (target: Target): string => `${target.resource.collection?.prefix}${keyOf(target)}`;

export const hookOf = (deps: RegistryDeps, { kind }: Resource): Hook | undefined =>
  deps.hooks.size === 0 ? undefined : deps.hooks.get(hookNames.get(kind) ?? nameOfHook(kind));

/** Names of the hooks of kinds, made once. */
const hookNames = new WeakMap<Resource['kind'], string>();
function nameOfHook(kind: Resource['kind']): string {
  const name = `${kind.group === '' ? 'core' : kind.group}/${kind.plural}`;
  hookNames.set(kind, name);
  return name;
}

/**
 * The stored form of an object, unless it is too large: the one place that limits the size of objects.
 * An object that exceeds the limit already, because a release without it or with a higher one stored it, may become smaller.
 */
export function encodeBounded(deps: RegistryDeps, resource: Resource, object: ApiObject, replaced?: Item): Buffer {
  const bound = sizeBound(deps, replaced);
  try {
    return bound.check(resource.versions.encode(object, bound.most));
  } catch (error) {
    throw bound.refusal(error);
  }
}
/** The same of a large object. */
export function* boundedValue(deps: RegistryDeps, resource: Resource, object: ApiObject, replaced?: Item): Work<Buffer> {
  const bound = sizeBound(deps, replaced);
  try {
    return bound.check(yield* resource.versions.encodedValue(object, bound.most));
  } catch (error) {
    throw bound.refusal(error);
  }
}
function sizeBound({ maxObjectBytes: limit }: RegistryDeps, replaced: Item | undefined) {
  const storedLength = replaced?.bytes.length ?? 0;
  return {
    most: Math.max(storedLength, limit),
    check: (value: Buffer): Buffer => {
      const size = value.length - HEADER;
      if (size > limit && size >= storedLength) throw objectTooLarge(size, limit);
      return value;
    },
    refusal: (error: unknown): unknown => (error instanceof TextTooLong ? objectTooLarge(`more than ${limit}`, limit) : error),
  };
}
const objectTooLarge = (size: number | string, limit: number) =>
  requestTooLarge(`Request entity too large: the object would take ${size} bytes in the store, and the limit is ${limit}`);

/** The item of an object that is not stored, such as one that is computed. */
export const itemOfObject = ({ hub }: Resource, key: string, object: ApiObject): Item =>
  itemOfText(key, object, Buffer.from(encode(hub.schema, object)));
/** The same of a dry run; that of a large object is made in slices. Rejects with RequestEnded. */
export async function unsavedItem(resource: Resource, key: string, object: ApiObject, slices: Slices | undefined): Promise<Item> {
  if (slices === undefined) return itemOfObject(resource, key, object);
  return itemOfText(key, object, await inSlices(encodedBytes(resource.hub.schema, object), slices));
}
const itemOfText = (key: string, object: ApiObject, bytes: Buffer): Item => ({
  key,
  revision: 0,
  created: 0,
  bytes,
  line: undefined,
  versionAt: 0,
  labels: object.metadata.labels,
  fields: undefined,
  parsed: undefined,
});

/** An object on its way into the store. */
export interface Put {
  readonly object: ApiObject;
  /** Its stored form, if that is encoded already. */
  value?: Buffer;
  /** The object is large and is not changed from now on: readers need not parse it. */
  readonly shared?: boolean;
  /** The revision that it must replace; 0: it must not exist. */
  readonly expect: number;
  /** The revision at which it was created; 0: the one of this write. */
  readonly created: number;
  /** What is written in the same commit. */
  readonly more?: readonly Operation[] | undefined;
  readonly sideWrites?: SideWrite[];
  readonly steps?: readonly CommitStep[] | undefined;
}

const NO_OPERATIONS: readonly Operation[] = [];

/** Throws, or rejects with, CommitConflict and what `encodeBounded` throws. */
export function commitPut(deps: RegistryDeps, ctx: WriteContext, put: Put): Promise<Item> {
  const { object, expect, created, more = NO_OPERATIONS, sideWrites = [], steps } = put;
  const { resource } = ctx;
  const collection = resource.collection;
  if (collection === undefined) throw new Error(`${resource.kind.plural} are not stored`);
  const value = put.value ?? encodeBounded(deps, resource, object);
  const { labels, fields } = collection.factsOf(object);
  const parsedObject = put.shared === true && collection.keepsParsed ? (revision: number) => asOf(object, revision) : undefined;
  const key = keyOf(ctx);
  const { prefix } = collection;
  const facts: Facts = { labels, fields, read: resource.read, place: { prefix, key }, parsed: parsedObject };
  const ttlSeconds = resource.kind.ttl?.(deps.env);
  const at = prefix + key;
  const note = noteOf(deps, ctx, at, expect === 0 ? 'create' : 'update', object);
  const traceparent = ctx.traceparent?.();
  const objectWrite: Operation =
    ttlSeconds === undefined
      ? { type: 'put', key: at, value, expect, created, note, traceparent }
      : { type: 'put', key: at, value, expect, created, ttlSeconds, note, traceparent };
  return commitAll(deps, ctx, more.length === 0 ? [objectWrite] : [objectWrite, ...more], [facts], sideWrites, steps).then((revision) => {
    const item = collection.pending === undefined ? collection.items.get(key) : undefined;
    // If the schema of the collection has changed meanwhile, the response is the object as it was written.
    if (item?.revision === revision && collection.readsBy(resource.read)) return item;
    return itemFromStored(key, value, revision, created === 0 ? revision : created, facts);
  });
}

/** The index entries of an object that was just written. */
const asOf = (object: ApiObject, revision: number): ApiObject =>
  frozen({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });

export function commitDelete(
  deps: RegistryDeps,
  ctx: WriteContext,
  { revision: expect, created }: { readonly revision: number; readonly created: number },
  more: readonly Operation[],
  sideWrites: SideWrite[],
  steps?: readonly CommitStep[],
): Promise<number> {
  const key = storeKey(ctx);
  const note = noteOf(deps, ctx, key, 'delete');
  return commitAll(
    deps,
    ctx,
    [{ type: 'delete', key, expect, created, note, traceparent: ctx.traceparent?.() }, ...more],
    [],
    sideWrites,
    steps,
  );
}

/** Who writes an object, for its history; undefined where no history is kept. `verb`: that of a write without a request. */
export function noteOf({ history }: RegistryDeps, ctx: WriteContext, key: string, verb: string, object?: ApiObject): Buffer | undefined {
  if (history === undefined) return undefined;
  const outlined = object !== undefined && history.ruleOf(key)?.values === false ? object : undefined;
  return encodeNote(ctx.user.name, ctx.manager, ctx.origin?.() ?? ownOrigin(verb, ctx.subresource), outlined);
}
const ownOrigin = (verb: string, subresource: string, auditId = ''): WriteOrigin => ({ verb, userAgent: '', auditId, subresource });
/** The server itself writes what a request entails, such as the use of a quota; the audit id names the request. */
const SERVER = 'system:apiserver';

/** How often a commit is retried after a conflict on one of its side writes. */
const SIDE_TRIES = 20;

/** Commits with the side writes that admission requested. */
function commitAll(
  deps: RegistryDeps,
  ctx: WriteContext,
  objectWrites: readonly Operation[],
  facts: readonly (Facts | undefined)[],
  sideWrites: SideWrite[],
  steps: readonly CommitStep[] | undefined,
): Promise<number> {
  const committed =
    steps === undefined
      ? commitNow(deps, ctx, objectWrites, facts, sideWrites)
      : commitPrepared(deps, ctx, objectWrites, facts, sideWrites, steps);
  return ctx.timing?.during('store', deps.monotonic, committed) ?? committed;
}
function commitNow(
  deps: RegistryDeps,
  ctx: WriteContext,
  objectWrites: readonly Operation[],
  facts: readonly (Facts | undefined)[],
  sideWrites: readonly SideWrite[],
): Promise<number> {
  if (sideWrites.length === 0) return deps.cache.commit(objectWrites, facts);
  const commit = atOnce(withSides(deps, ctx, objectWrites, facts, sideWrites));
  return deps.cache.commit(commit.operations, commit.facts);
}

/** Side writes are computed again after a conflict. */
async function commitPrepared(
  deps: RegistryDeps,
  ctx: WriteContext,
  objectWrites: readonly Operation[],
  facts: readonly (Facts | undefined)[],
  sideWrites: SideWrite[],
  steps: readonly CommitStep[],
): Promise<number> {
  const requestedSideWrites = sideWrites.length;
  for (let attempt = 1; ; attempt++) {
    sideWrites.length = requestedSideWrites;
    let stepsBegun = 0;
    let isStored = false;
    try {
      for (const step of steps) {
        stepsBegun++;
        await step.prepare();
      }
      const commit = await inSlices(withSides(deps, ctx, objectWrites, facts, sideWrites), new Slices());
      const revision = await deps.cache.commit(commit.operations, commit.facts, (assigned) => {
        for (const step of steps) step.assigned?.(assigned);
      });
      isStored = true;
      return revision;
    } catch (error) {
      const overtaken = error instanceof CommitConflict && !objectWrites.some((operation) => operation.key === error.key);
      if (!overtaken || attempt >= SIDE_TRIES) throw error;
    } finally {
      for (const step of steps.slice(0, stepsBegun)) step.settle(isStored);
    }
  }
}

interface Commit {
  readonly operations: Operation[];
  /** By the position of the operation. */
  readonly facts: (Facts | undefined)[];
}

/** The facts of side writes are known, too: whoever hears of the commit parses none of its values. */
function* withSides(
  deps: RegistryDeps,
  ctx: WriteContext,
  objectWrites: readonly Operation[],
  objectFacts: readonly (Facts | undefined)[],
  sideWrites: readonly SideWrite[],
): Work<Commit> {
  const commit: Commit = { operations: [...objectWrites], facts: objectWrites.map((_, i) => objectFacts[i]) };
  for (const write of sideWrites) {
    addSide(deps, ctx, write, commit);
    yield;
  }
  return commit;
}

function addSide(deps: RegistryDeps, { origin }: WriteContext, { group, plural, object }: SideWrite, { operations, facts }: Commit): void {
  const resource = deps.catalog.builtin(group, plural);
  const { name = '', namespace = '', resourceVersion } = object.metadata;
  const prefix = prefixOf(resource.kind);
  const key = resource.kind.namespaced ? `${namespace}/${name}` : name;
  const value = encodeBounded(deps, resource, { ...object, metadata: { ...object.metadata } });
  const note = deps.history && encodeNote(SERVER, '', ownOrigin('update', 'status', origin?.().auditId));
  operations.push({ type: 'put', key: prefix + key, value, expect: Number(resourceVersion), note });
  const knownFacts = resource.collection?.factsOf(object);
  facts.push(knownFacts && { ...knownFacts, read: resource.read, place: { prefix, key } });
}

/** The admission request of a write. */
export function admissionRequest(
  ctx: WriteContext,
  operation: AdmissionRequest['operation'],
  object: ApiObject | undefined,
  oldObject: ApiObject | undefined,
  pathName = ctx.name,
): AdmissionRequest {
  return {
    operation,
    served: ctx.resource,
    subresource: ctx.subresource,
    namespace: ctx.namespace,
    name: ctx.name,
    pathName,
    object,
    oldObject,
    options: ctx.options,
    user: ctx.user,
    dryRun: ctx.dryRun,
    collection: ctx.collection,
    explanation: ctx.explanation,
    timing: ctx.timing,
    traceparent: ctx.traceparent,
    sideWrites: [],
    warn: ctx.warn,
    annotate: ctx.annotate,
  };
}
