/**
 * delete and deletecollection. An object with finalizers, or of a kind with graceful deletion, is first marked with a
 * deletionTimestamp; it is removed with its last finalizer or when the grace period becomes zero.
 */

import { nextGeneration } from '@plat-dev/kinds/generation';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { fromHub } from '@plat-dev/kinds/served-kind';
import type { Integer } from '@plat-dev/lib/integers';
import { inSlices, soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import { conflict } from '@plat-dev/meta/errors';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';
import { type Item, sameText } from '@plat-dev/storage/item';
import type { SideWrite } from '../admission/types.ts';
import type { Resource } from './catalog.ts';
import { admissionRequest, commitDelete, commitPut, hookOf, unsavedItem } from './commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from './context.ts';
import type { DeleteOptions, RemoveResult } from './delete-options.ts';
import { releasedForAdmission, withLock } from './large-object-locks.ts';
import { isHeld } from './strategy.ts';
import { missing, removeUnreadable, unreadableAt } from './unreadable.ts';
import { MODIFIED } from './update.ts';
import { parseItem } from './versions.ts';

const TRIES = 20;
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/**
 * Further writes of the same commit; throws to refuse, before the preconditions of the request are checked. It is called
 * again after a conflict, so that its decision is true of the state that the deletion replaces.
 */
export type Alongside = (object: ApiObject) => Work<readonly SideWrite[]>;

export async function remove(deps: RegistryDeps, ctx: WriteContext, options: DeleteOptions, alongside?: Alongside): Promise<RemoveResult> {
  if (ctx.resource.collection?.pending !== undefined) await lookUp(ctx);
  for (let attempt = 1; ; attempt++) {
    try {
      return await withLock(deps, ctx, (release) => attemptRemove(deps, ctx, options, alongside, release));
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      if (attempt >= TRIES) throw conflict(ctx.resource.resource, ctx.name, MODIFIED);
    }
  }
}

async function attemptRemove(
  deps: RegistryDeps,
  ctx: WriteContext,
  options: DeleteOptions,
  alongside: Alongside | undefined,
  release: () => void,
): Promise<RemoveResult> {
  const { resource } = ctx;
  if (!deps.cache.engine.exclusive) await deps.cache.freshen();
  const item = resource.collection?.items.get(keyOf(ctx));
  if (item === undefined) {
    const unreadable = unreadableAt(ctx);
    // The further writes depend on the state of the object.
    if (unreadable === undefined || alongside !== undefined) throw missing(ctx);
    return removeUnreadable(deps, ctx, unreadable, options);
  }
  const slices = ctx.request?.slices(item.bytes.length);
  const object = ctx.asStored ? await decoded(resource, item) : await resource.versions.decode(item, slices);
  // A client that deletes an object in a version must be able to read it in that version, so that nothing is deleted unseen.
  if (resource.versions.byCalls && !ctx.collection) await fromHub(resource, structuredClone(object));
  const sideWrites = alongside && (await soonOrInSlices(alongside(object), slices));
  checkPreconditions(ctx, object, options);
  if (isUnderWay(ctx, object, options)) return { item, object, removed: false };
  const request = admissionRequest(withEffective(ctx, object, options), 'DELETE', undefined, object);
  if (sideWrites !== undefined) request.sideWrites.push(...sideWrites);
  await releasedForAdmission(deps.admission.admit(request), release);
  await releasedForAdmission(deps.admission.validate(request), release);

  const now = deps.env.now();
  const plan = gracePlan(ctx, object, options, now);
  const finalizers = finalizersFor(ctx, object, options);
  const isHeldBack = isHeld(resource.kind, object, finalizers ?? object.metadata.finalizers);
  if (plan === 'now' && !isHeldBack) return removeNow(deps, ctx, item, object, request.sideWrites);
  // Watchers see the deletionTimestamp first, and the deletion carries it.
  const atOnce = plan === 'marked' && !isHeldBack && object.metadata.deletionGracePeriodSeconds === 0;

  if (finalizers !== undefined) setFinalizers(object, finalizers);
  if (plan === 'now') {
    markDeleting(object, now);
    resource.kind.deletionBegins?.(object as never);
  }
  object.metadata.resourceVersion = String(item.revision);
  if (ctx.dryRun) return { item: await unsavedItem(resource, item.key, object, slices), object, removed: atOnce };
  // Deleting an object that is terminating already changes nothing. The deletion fields may make an object exceed the size limit.
  const { versions } = resource;
  const value = slices === undefined ? versions.encode(object) : await inSlices(versions.encodedValue(object), slices);
  if (sameText(item, value)) return { item, object, removed: false };
  const { revision: expect, created } = item;
  const markedItem = await commitPut(deps, ctx, { object, value, expect, created, sideWrites: request.sideWrites });
  return { item: markedItem, object, removed: atOnce && (await removeMarked(deps, ctx, markedItem, object)) };
}

/**
 * Removes an object that was just marked and has no grace left. A concurrent write may have removed it, or have added a finalizer,
 * which then holds it.
 */
async function removeMarked(deps: RegistryDeps, ctx: WriteContext, markedItem: Item, object: ApiObject): Promise<boolean> {
  let current: Item | undefined = markedItem;
  for (let attempt = 1; ; attempt++) {
    try {
      await removeNow(deps, ctx, current, object, []);
      return true;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      if (attempt >= TRIES) throw conflict(ctx.resource.resource, ctx.name, MODIFIED);
    }
    if (!deps.cache.engine.exclusive) await deps.cache.freshen();
    current = ctx.resource.collection?.items.get(keyOf(ctx));
    if (current === undefined || current.created !== markedItem.created) return true;
    if (isHeld(ctx.resource.kind, object, parseItem(current).metadata.finalizers)) return false;
  }
}

/** The object in whichever version it is stored. */
const decoded = (resource: Resource, item: Item): ApiObject => resource.versions.decodeNow(item);

async function removeNow(
  deps: RegistryDeps,
  ctx: WriteContext,
  item: Item,
  object: ApiObject,
  sideWrites: Parameters<typeof commitDelete>[4],
): Promise<RemoveResult> {
  if (!ctx.dryRun) {
    const operations: Operation[] = [];
    const hook = hookOf(deps, ctx.resource);
    if (hook !== undefined) await hook({ object: undefined, old: object, dryRun: false, env: deps.env, operations });
    await commitDelete(deps, ctx, item, operations, sideWrites);
  }
  if (!marked(object, item)) return { item, object, removed: true };
  return { item: await unsavedItem(ctx.resource, item.key, object, ctx.request?.slices(item.bytes.length)), object, removed: true };
}
/** A grace period of zero is shown in the response. */
const marked = (object: ApiObject, item: Item): boolean => object.metadata.deletionTimestamp !== undefined && item.revision > 0;

function checkPreconditions(ctx: WriteContext, object: ApiObject, { preconditions }: DeleteOptions): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  const { kind, resource, groupKind } = ctx.resource;
  const fail = (field: string, expectedValue: string, actual: string | undefined, why: string) =>
    // A graceful deletion is refused with the message of an update conflict.
    kind.deletionBegins !== undefined
      ? conflict(
          resource,
          ctx.name,
          `Precondition failed: ${field} in precondition: ${expectedValue}, ${field} in object meta: ${actual ?? ''}`,
        )
      : conflict(
          groupKind,
          ctx.name,
          `the ${field} in the precondition (${expectedValue}) does not match the ${field} in record (${actual ?? ''}). The object might have been ${why}`,
        );
  if (uid !== undefined && uid !== object.metadata.uid) throw fail('UID', uid, object.metadata.uid, 'deleted and then recreated');
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
    throw fail('ResourceVersion', resourceVersion, object.metadata.resourceVersion, 'modified');
}

/** The requested grace period: a negative one is one second. */
const requestedGrace = ({ gracePeriodSeconds: seconds }: DeleteOptions): Integer | undefined =>
  seconds !== undefined && seconds < 0 ? 1 : seconds;

/** The object is terminating already, and this request changes nothing: admission does not run again. */
function isUnderWay({ resource: { kind } }: WriteContext, object: ApiObject, options: DeleteOptions): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: current } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  if (kind.deletionBegins !== undefined && kind.holdsDeletion?.(object as never)) return true;
  // An object without grace left is removed: a deletion that was interrupted after the mark is completed.
  if (kind.gracePeriod === undefined || current === undefined || current === 0) return false;
  const requested = requestedGrace(options);
  return requested === undefined || requested >= current;
}

/**
 * The request with its effective options: admission sees the grace period of the deletion, and the object that a
 * graceful deletion continues with.
 */
function withEffective(ctx: WriteContext, object: ApiObject, options: DeleteOptions): WriteContext {
  const { kind } = ctx.resource;
  const isNegative = (options.gracePeriodSeconds ?? 0) < 0;
  if (ctx.collection || (kind.gracePeriod === undefined && kind.deletionBegins === undefined && !isNegative)) return ctx;
  const all = { ...ctx.options };
  let grace = requestedGrace(options);
  if (kind.gracePeriod !== undefined && object.metadata.deletionTimestamp === undefined) grace = kind.gracePeriod(object as never, grace);
  if (grace !== undefined) all.gracePeriodSeconds = grace;
  if (kind.deletionBegins !== undefined) all.preconditions = { uid: object.metadata.uid ?? '', ...options.preconditions };
  return { ...ctx, options: all };
}

/**
 * The effect of the grace period on this request; the object is marked if the period begins or is shortened.
 *   now      no grace: it is removed, unless it has finalizers
 *   marked   the grace period begins or is shortened
 */
function gracePlan(ctx: WriteContext, object: ApiObject, options: DeleteOptions, now: number): 'now' | 'marked' {
  const meta = object.metadata;
  const { kind } = ctx.resource;
  if (kind.gracePeriod === undefined) return 'now';
  const requested = requestedGrace(options);
  if (meta.deletionTimestamp !== undefined) {
    const current = meta.deletionGracePeriodSeconds;
    if (current === undefined || current === 0 || requested === undefined) return 'now';
    const deletionRequestedAt = timeMillis(meta.deletionTimestamp) - Number(current) * 1000;
    // The last time hides when a period that never ends has begun.
    meta.deletionTimestamp = deletionTime(deletionRequestedAt > 0 ? deletionRequestedAt : now, requested);
    meta.deletionGracePeriodSeconds = requested;
    return 'marked';
  }
  const grace = kind.gracePeriod(object as never, requested);
  meta.deletionTimestamp = deletionTime(now, grace);
  meta.deletionGracePeriodSeconds = grace;
  if (meta.generation !== undefined && meta.generation > 0) meta.generation = nextGeneration(meta.generation);
  return 'marked';
}

/** A grace period of thousands of years never ends. */
const deletionTime = (from: number, grace: Integer): string => formatTime(Math.min(from + Number(grace) * 1000, LAST_TIME));
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59);

function markDeleting(object: ApiObject, now: number): void {
  const meta = object.metadata;
  if (meta.deletionTimestamp === undefined) {
    if (meta.generation !== undefined && meta.generation > 0) meta.generation = nextGeneration(meta.generation);
    meta.deletionTimestamp = formatTime(now);
  }
  meta.deletionGracePeriodSeconds = 0;
}

/** Finalizers with those that the propagation policy requires; undefined when nothing changes. */
function finalizersFor(ctx: WriteContext, object: ApiObject, options: DeleteOptions): string[] | undefined {
  const current = object.metadata.finalizers ?? [];
  const policy = policyOf(ctx, current, options);
  const remainingFinalizers = current.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (policy === 'Orphan') remainingFinalizers.push(ORPHAN);
  if (policy === 'Foreground') remainingFinalizers.push(FOREGROUND);
  const same = remainingFinalizers.length === current.length && remainingFinalizers.every((f, i) => f === current[i]);
  return same ? undefined : remainingFinalizers;
}
function policyOf(ctx: WriteContext, current: readonly string[], options: DeleteOptions): string {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  if (current.includes(ORPHAN)) return 'Orphan';
  if (current.includes(FOREGROUND)) return 'Foreground';
  const { orphansByDefault: orphans = false } = ctx.resource.kind;
  return (typeof orphans === 'boolean' ? orphans : orphans.includes(ctx.resource.version)) ? 'Orphan' : 'Background';
}
function setFinalizers(object: ApiObject, finalizers: string[]): void {
  if (finalizers.length === 0) delete object.metadata.finalizers;
  else object.metadata.finalizers = finalizers;
}
