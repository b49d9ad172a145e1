/**
 * The guarded update that update, patch and apply share: read → change → mutating admission → prepare → validate → validating
 * admission → commit if nothing has changed meanwhile, else again with the newer state.
 */

import { nextGeneration } from '@plat-dev/kinds/generation';
import type { ApiObject, Kind } from '@plat-dev/kinds/kind';
import { equalExcept } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { inSlices, type Slices } from '@plat-dev/lib/slices';
import { ApiError, badRequest, conflict, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Operation } from '@plat-dev/storage/engine';
import { CommitConflict } from '@plat-dev/storage/engine';
import { type Item, sameText } from '@plat-dev/storage/item';
import type { AdmissionRequest, ObjectKind } from '../admission/types.ts';
import { admissionRequest, boundedValue, commitDelete, commitPut, encodeBounded, hookOf, storeKey, unsavedItem } from './commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from './context.ts';
import { create } from './create.ts';
import { checkEntries } from './entries.ts';
import { releasedForAdmission, withLock } from './large-object-locks.ts';
import { checkNamespace, dropClusterName, validateMetadataLast, validateMetadataUpdate } from './metadata.ts';
import { keepTimes, repairOwners } from './ownership.ts';
import { uidDiffers } from './preconditions.ts';
import { isHeld, strategyOf } from './strategy.ts';
import { missing, unreadableAt } from './unreadable.ts';
import { requestForms } from './validated-forms.ts';
import { hookOperations, runRules } from './write-stages.ts';

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** Maximum retries of a write that conflicts with others. */
const TRIES = 20;

export interface UpdateResult {
  readonly item: Item;
  readonly created: boolean;
}

export interface Update {
  /**
   * Makes the new object, in hub form, from the stored one, in hub form. Asked again on every try. The stored object must
   * not be changed, and the new one will be: of what the stored one holds it may share managedFields alone.
   * Its metadata.resourceVersion, if set, must be that of the stored object.
   */
  change(live: ApiObject, item: Item): Promise<ApiObject>;
  /** Makes the object where there is none, in request version; absent: 404. */
  createAbsent?(): Promise<ApiObject>;
  /** The object made by `createAbsent` carries its managedFields. */
  readonly createdIsOwned?: boolean;
  /** A uid in the new object is a condition rather than a change. */
  readonly uidIsCondition?: boolean;
  /** The request named the version it builds on: a conflict is final. */
  readonly conflictIsFinal?: boolean;
  /** Admission sees a view of the object (its scale) instead of the object itself. */
  readonly admittedAs?: AdmittedView;
}

interface AdmittedView {
  readonly kind: ObjectKind;
  show(hub: ApiObject): ApiObject;
  /** The object with the view as admission left it; the one given may be changed. */
  write(view: ApiObject, hub: ApiObject): Promise<ApiObject>;
}

/**
 * With a shared store an attempt uses what the cache has, without a question to the store: its commit fails if another server has
 * written the object since. What ends without a commit is decided again if the object turns out to be another one.
 */
export async function update(deps: RegistryDeps, ctx: WriteContext, how: Update): Promise<UpdateResult> {
  if (ctx.resource.collection?.pending !== undefined) await lookUp(ctx);
  let unchecked = !deps.cache.engine.exclusive && !ctx.dryRun;
  if (!unchecked && !deps.cache.engine.exclusive) await deps.cache.freshen();
  for (let attempt = 1; ; attempt++) {
    const cachedItem = unchecked ? itemOf(ctx) : undefined;
    try {
      const result = await withLock(deps, ctx, (release) => attemptUpdate(deps, ctx, how, release));
      if (!unchecked || result.item !== cachedItem || !(await hasChanged(deps, ctx, cachedItem))) return result;
      unchecked = false;
    } catch (error) {
      if (error instanceof CommitConflict) {
        // Only the object itself has the version that was named; another conflict is a matter of trying again.
        const final = how.conflictIsFinal && error.key === storeKey(ctx);
        if (final && how.createAbsent === undefined && (await isGone(deps, ctx))) throw missing(ctx);
        if (attempt >= TRIES || final) throw conflict(ctx.resource.resource, ctx.name, MODIFIED);
        continue;
      }
      if (unchecked && attempt < TRIES && (await hasChanged(deps, ctx, cachedItem))) {
        unchecked = false;
        continue;
      }
      // An object that appeared between the look and the create is updated instead.
      if (error instanceof ApiError && error.reason === 'AlreadyExists' && how.createAbsent !== undefined && attempt < TRIES) continue;
      throw error;
    }
  }
}

const itemOf = (ctx: WriteContext): Item | undefined => ctx.resource.collection?.items.get(keyOf(ctx));

/** Throws 404 unless the object exists. With a shared store one that the cache does not have is looked for in the newest state. */
export async function checkExists(deps: RegistryDeps, ctx: WriteContext): Promise<void> {
  if (itemOf(ctx) !== undefined) return;
  if (deps.cache.engine.exclusive || (await isGone(deps, ctx))) throw missing(ctx);
}

/** Whether the newest state of the object is another one than the cache had. */
async function hasChanged(deps: RegistryDeps, ctx: WriteContext, cachedItem: Item | undefined): Promise<boolean> {
  await deps.cache.freshen();
  return itemOf(ctx) !== cachedItem;
}

/** Whether there is no such object in the newest state: none to try again with, where a write was lost against its removal. */
async function isGone(deps: RegistryDeps, ctx: WriteContext): Promise<boolean> {
  if (!deps.cache.engine.exclusive) await deps.cache.freshen();
  return itemOf(ctx) === undefined;
}

async function attemptUpdate(deps: RegistryDeps, ctx: WriteContext, how: Update, release: () => void): Promise<UpdateResult> {
  const { kind } = ctx.resource;
  const item = itemOf(ctx);
  if (item === undefined) return createAbsent(deps, ctx, how);
  const slices = ctx.request?.slices(item.bytes.length);
  const old = await ctx.resource.versions.decodeRecent(item, slices);
  if (slices !== undefined) await slices.pause();
  const hub = await how.change(old, item);
  if (slices !== undefined) {
    await slices.pause();
    checkEntries(ctx.resource, hub, old);
    await slices.pause();
  }
  checkIdentity(ctx, hub, old, how.uidIsCondition ?? false);
  dropClusterName(ctx, hub);
  const managers = hub.metadata.managedFields;
  const request = updateRequest(ctx, how, hub, old);
  await releasedForAdmission(deps.admission.admit(request), release);
  const admitted = request.object as ApiObject;
  const ready = how.admittedAs === undefined ? admitted : await how.admittedAs.write(admitted, hub);
  prepare(deps, ctx, ready, old, hub, managers);
  const hook = ctx.subresource === '' ? hookOf(deps, ctx.resource) : undefined;
  const operations = hook === undefined ? undefined : await hookOperations(hook, deps.env, ctx, ready, old);
  if (slices !== undefined) await slices.pause();
  await validate(deps, ctx, ready, old, slices);
  showValidated(how, request, ready, old);
  keepTimes(deps, ready, old);
  await releasedForAdmission(deps.admission.validate(request), release);
  if (slices !== undefined) await slices.pause();
  const writtenItem = finished(kind, ready, old)
    ? await removeFinished(deps, ctx, ready, item)
    : await store(deps, ctx, ready, item, request, operations);
  return { item: writtenItem, created: false };
}

async function createAbsent(deps: RegistryDeps, ctx: WriteContext, how: Update): Promise<UpdateResult> {
  if (how.createAbsent === undefined || unreadableAt(ctx) !== undefined) throw missing(ctx);
  const object = await how.createAbsent();
  // The version of an object that went meanwhile is no hindrance to making it again.
  if (!how.createdIsOwned) delete object.metadata.resourceVersion;
  return { item: await create(deps, ctx, object, how.createdIsOwned ?? false), created: true };
}

function updateRequest(ctx: WriteContext, { admittedAs }: Update, hub: ApiObject, old: ApiObject): AdmissionRequest {
  if (admittedAs === undefined) return admissionRequest(ctx, 'UPDATE', hub, old);
  const { kind, show } = admittedAs;
  return { ...admissionRequest(ctx, 'UPDATE', show(hub), show(old)), objectKind: kind };
}

/** Sets what the server alone sets. `managers`: those of the object's fields before admission. */
function prepare(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  old: ApiObject,
  hub: ApiObject,
  managers: ApiObject['metadata']['managedFields'],
): void {
  const { resource } = ctx;
  const { kind } = resource;
  repairOwners(ctx, ready, managers);
  resource.versions.fillDefaults(ready, hub);
  checkVersion(ctx, ready, old);
  keepSystemFields(ready, old);
  resource.gated.clear(ready, old);
  strategyOf(ctx).prepareForUpdate?.(ready as never, old as never, deps.env, ctx);
  if (kind.generation && writesSpec(ctx) && !equalExcept(ready, old, kind.generation === 'all' ? outsideAll : outsideSpec))
    ready.metadata.generation = nextGeneration(old.metadata.generation);
}

/** The rules for what changes; then the object is in the one form in which it is stored. Throws `invalid`. */
async function validate(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  old: ApiObject,
  slices: Slices | undefined,
): Promise<void> {
  const { resource } = ctx;
  const { kind } = resource;
  const strategy = strategyOf(ctx);
  const errors = new FieldErrors();
  validateMetadataUpdate(kind, ready, old, errors);
  if (slices !== undefined) await slices.pause();
  const forms = resource.versions.validatesRequestVersion ? await requestForms(deps, ctx, ready, old) : { object: ready, old };
  const env = resource.gated.envFor(ready, old, deps.env);
  const rules = strategy.validateUpdate?.(forms.object as never, forms.old as never, errors, env, ctx);
  if (rules !== undefined) await runRules(rules, slices);
  validateMetadataLast(deps.env, kind, ready, errors);
  if (!errors.empty) throw invalid(resource.groupKind, ctx.name, errors.list);
  if (slices !== undefined) await slices.pause();
  for (const text of strategy.warnings?.(ready as never, old as never, deps.env) ?? []) ctx.warn(text);
  const rewriting = strategy.canonicalize?.(ready as never);
  if (rewriting !== undefined) await runRules(rewriting, slices);
}

/** Validating admission sees the object as it is ready, with the version that it replaces. */
function showValidated({ admittedAs }: Update, request: AdmissionRequest, ready: ApiObject, old: ApiObject): void {
  ready.metadata.resourceVersion = old.metadata.resourceVersion ?? '';
  if (admittedAs !== undefined) request.object = admittedAs.show(ready);
}

/** Writes an object that is ready in place of an item, unless it says the same. */
async function store(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  item: Item,
  { sideWrites, commitSteps: steps }: AdmissionRequest,
  more: readonly Operation[] | undefined,
): Promise<Item> {
  const { resource } = ctx;
  const slices = ctx.request?.slices(item.bytes.length);
  const value =
    slices === undefined ? encodeBounded(deps, resource, ready, item) : await inSlices(boundedValue(deps, resource, ready, item), slices);
  if (sameText(item, value) && !(deps.cache.engine.isOutdated !== undefined && (await deps.cache.engine.isOutdated(storeKey(ctx)))))
    return item;
  if (ctx.dryRun) {
    ready.metadata.resourceVersion = String(item.revision);
    return unsavedItem(resource, item.key, ready, slices);
  }
  if (slices !== undefined) await slices.pause();
  const shared = slices !== undefined;
  const put = { object: ready, value, shared, expect: item.revision, created: item.created, more, sideWrites, steps };
  const writtenItem = await commitPut(deps, ctx, put);
  resource.versions.recent.keep(resource, writtenItem, ready, item);
  return writtenItem;
}

/** The last finalizer went while a deletion waits: the object goes. */
function finished(kind: Kind, object: ApiObject, old: ApiObject): boolean {
  return (
    old.metadata.deletionTimestamp !== undefined &&
    (object.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    !isHeld(kind, object) &&
    isHeld(kind, old)
  );
}

async function removeFinished(deps: RegistryDeps, ctx: WriteContext, ready: ApiObject, item: Item): Promise<Item> {
  ready.metadata.resourceVersion = String(item.revision);
  const slices = ctx.request?.slices(item.bytes.length);
  if (ctx.dryRun) return unsavedItem(ctx.resource, item.key, ready, slices);
  const hook = hookOf(deps, ctx.resource);
  const operations: Operation[] = [];
  if (hook !== undefined) await hook({ object: undefined, old: ready, dryRun: false, env: deps.env, operations });
  await commitDelete(deps, ctx, item, operations, []);
  return unsavedItem(ctx.resource, item.key, ready, slices);
}

/** The object is the one that the path names. */
export function checkName(ctx: WriteContext, object: ApiObject): void {
  const { name } = object.metadata;
  if (name === undefined || name === '')
    throw badRequest(`the name of the object (${ctx.name} based on URL) was undeterminable: name must be provided`);
  if (name !== ctx.name) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${ctx.name})`);
}

function checkIdentity(ctx: WriteContext, object: ApiObject, old: ApiObject, uidIsCondition: boolean): void {
  const { uid } = object.metadata;
  checkName(ctx, object);
  checkNamespace(ctx, object);
  if (uidIsCondition && uid !== undefined && uid !== old.metadata.uid) throw uidDiffers(ctx, uid, old.metadata.uid);
}

function checkVersion(ctx: WriteContext, object: ApiObject, old: ApiObject): void {
  const { resource } = ctx;
  const version = object.metadata.resourceVersion ?? '';
  if (version === '' || version === '0') {
    if (!resource.kind.updateNeedsVersion) return;
    const errors = new FieldErrors();
    errors.add('FieldValueInvalid', Path.of('metadata', 'resourceVersion'), 'Invalid value: 0x0: must be specified for an update');
    throw invalid(resource.resource, ctx.name, errors.list);
  }
  if (!/^\d+$/.test(version))
    throw badRequest(`metadata.resourceVersion: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  if (version !== old.metadata.resourceVersion) throw conflict(resource.resource, ctx.name, MODIFIED);
}

/** Fields of metadata that the server alone sets. */
function keepSystemFields(object: ApiObject, old: ApiObject): void {
  const meta = object.metadata;
  const oldMetadata = old.metadata;
  meta.uid ??= oldMetadata.uid ?? '';
  keep(meta, oldMetadata, 'creationTimestamp');
  keep(meta, oldMetadata, 'generation');
  if (oldMetadata.deletionTimestamp !== undefined) {
    meta.deletionTimestamp = oldMetadata.deletionTimestamp;
    if (meta.deletionGracePeriodSeconds === undefined) keep(meta, oldMetadata, 'deletionGracePeriodSeconds');
  }
  keep(meta, oldMetadata, 'selfLink');
}
function keep<K extends 'creationTimestamp' | 'generation' | 'deletionGracePeriodSeconds' | 'selfLink'>(
  to: ApiObject['metadata'],
  from: ApiObject['metadata'],
  field: K,
): void {
  if (from[field] !== undefined) to[field] = from[field];
  else if (to[field] !== undefined) delete to[field];
}

/** The object itself, or a view of it such as its scale. */
const writesSpec = (ctx: WriteContext): boolean =>
  ctx.subresource === '' || own(ctx.resource.kind.subresources, ctx.subresource)?.type === 'view';

/** Fields whose change is not a new generation. */
const outsideSpec: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata', 'status']);
const outsideAll: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);
