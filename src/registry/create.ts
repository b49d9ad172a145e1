/** create: own fields → mutating admission → prepare → validate → validating admission → store. */

import type { ApiObject } from '../kinds/kind.ts';
import { atOnce, inSlices, type Slices, soonOrInSlices } from '../lib/slices.ts';
import type { MaybePromise } from '../lib/when-ready.ts';
import { type ApiError, alreadyExists, badRequest, conflict, invalid } from '../meta/errors.ts';
import { FieldErrors } from '../meta/field.ts';
import { formatTime } from '../meta/time.ts';
import { copyInSlices } from '../schema/plain.ts';
import { CommitConflict, type Operation } from '../storage/engine.ts';
import type { Item } from '../storage/item.ts';
import {
  admissionRequest,
  boundedValueInSlices,
  boundedValueOf,
  commitPut,
  hookOf,
  type Put,
  storeKey,
  unsavedInSlices,
} from './commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from './context.ts';
import { checkNamespace, dropClusterName, generatedName, validateKey, validateMetadata } from './metadata.ts';
import { ownCreated, repairOwners } from './ownership.ts';
import { unreadableAt } from './unreadable.ts';
import { validatedForms } from './validated-forms.ts';
import { parseItem } from './versions.ts';

/** How often a generated name that is taken is replaced by another. */
const NAME_TRIES = 5;
/** Attempts of a create whose address or port was taken by another write meanwhile. */
const TRIES = 20;
const CROWDED = 'too many conflicting writes; try again';

/**
 * `object` is in the request version, decoded and defaulted; it is changed. `owned` says that its managedFields are
 * already right (an apply that creates).
 */
export async function create(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, owned = false): Promise<Item> {
  // A hook fills in what the server chose for the object; a retry chooses again.
  const copyOf = (value: ApiObject) => copyInSlices(value, ctx.request?.slices());
  const pristine = hookOf(deps, ctx.resource) === undefined ? undefined : await copyOf(object);
  for (let attempt = 1; ; attempt++) {
    const given = attempt === 1 || pristine === undefined ? object : await copyOf(pristine);
    try {
      return await attemptCreate(deps, ctx, given, owned);
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      if (attempt >= TRIES) throw conflict(ctx.resource.resource, given.metadata.name ?? '', CROWDED);
    }
  }
}

/** Throws CommitConflict when something else than the name was taken meanwhile: a quota, an address. */
async function attemptCreate(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, owned: boolean): Promise<Item> {
  const { resource } = ctx;
  const { kind } = resource;
  checkNamespace(ctx, object);
  if (ctx.name !== '' && object.metadata.name !== ctx.name)
    throw badRequest(`the name of the object (${object.metadata.name ?? ''}) does not match the name on the URL (${ctx.name})`);
  dropClusterName(ctx, object);
  const owning = owned ? undefined : ownCreated(deps, ctx, object);
  if (owning instanceof Promise) await owning;
  const slices = ctx.request?.slices();
  if (slices !== undefined) await slices.pause();
  resetSystemFields(object, resource.kind.namespaced ? ctx.namespace : '');
  const converting = resource.versions.accept(object);
  const hub = converting instanceof Promise ? await converting : converting;
  const named = withName(ctx, hub.metadata.name);
  const request = admissionRequest(named, 'CREATE', hub, undefined, ctx.name);
  const owners = hub.metadata.managedFields;
  const admitted = deps.admission.admit(request);
  if (admitted instanceof Promise) await admitted;
  if (slices !== undefined) await slices.pause();
  const ready = request.object as ApiObject;
  repairOwners(ctx, ready, owners);
  resource.versions.fillDefaults(ready, hub);
  const generate = ready.metadata.name === undefined && ready.metadata.generateName !== undefined;
  if (generate) ready.metadata.name = generatedName(ready.metadata.generateName as string, deps.randomBelow);
  ready.metadata.uid = deps.newUid();
  ready.metadata.creationTimestamp = formatTime(deps.env.now());
  const given = ready.metadata.resourceVersion;
  if (given !== undefined) delete ready.metadata.resourceVersion;
  if (kind.generation) ready.metadata.generation = 1;
  resource.gated.clear(ready, undefined);
  kind.strategy?.prepareForCreate?.(ready as never, deps.env, ctx);

  const target = withName(named, ready.metadata.name);
  const hook = hookOf(deps, resource);
  let more: Operation[] | undefined;
  if (hook !== undefined) {
    more = [];
    await hook({ object: ready, old: undefined, dryRun: ctx.dryRun, operations: more });
  }
  if (slices !== undefined) await slices.pause();

  const checking = check(deps, ctx, ready, slices);
  if (checking instanceof Promise) await checking;
  if (slices !== undefined) await slices.pause();
  const canonical = kind.strategy?.canonicalize?.(ready as never);
  if (canonical !== undefined) {
    if (slices === undefined) atOnce(canonical);
    else {
      await inSlices(canonical, slices);
      await slices.pause();
    }
  }
  request.name = target.name;
  if (generate) request.nameGenerated = true;
  const validated = deps.admission.validate(request);
  if (validated instanceof Promise) await validated;
  if (slices !== undefined) await slices.pause();

  if (ctx.dryRun) {
    if (resource.collection?.pending !== undefined) await lookUp(target);
    if (resource.collection?.items.get(keyOf(target)) !== undefined || unreadableAt(target) !== undefined) throw await taken(target);
    if (slices === undefined) boundedValueOf(deps, resource, ready);
    else await boundedValueInSlices(deps, resource, ready, slices);
    // What is not stored has no version of its own: the answer repeats what was sent.
    if (given !== undefined) ready.metadata.resourceVersion = given;
    return unsavedInSlices(resource, keyOf(target), ready, slices);
  }
  if (given !== undefined && !owned && isVersion(given)) throw badRequestOnCreate();
  const { sideWrites, commitSteps: steps } = request;
  const put: Put = { object: ready, shared: slices !== undefined, expect: 0, created: 0, more, sideWrites, steps };
  for (let attempt = 1; ; attempt++) {
    const final = withName(target, ready.metadata.name);
    // The text of a large object is made in slices, with each try: the name may be another one.
    if (slices !== undefined) {
      put.value = await boundedValueInSlices(deps, resource, ready, slices);
      await slices.pause();
    }
    try {
      const item = await commitPut(deps, final, put);
      resource.versions.recent.created(resource, resource.collection?.prefix ?? '', item, ready);
      return item;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      if (error.key !== storeKey(final)) {
        if (generate) delete object.metadata.name;
        throw error;
      }
      if (!generate || attempt >= NAME_TRIES) throw await taken(final);
      ready.metadata.name = generatedName(ready.metadata.generateName as string, deps.randomBelow);
    }
  }
}

/** The rules for what is made. Throws `invalid`. */
function check(deps: RegistryDeps, ctx: WriteContext, ready: ApiObject, slices: Slices | undefined): MaybePromise<void> {
  const forms = validatedForms(deps, ctx, ready, undefined);
  if (forms instanceof Promise) return forms.then(({ object }) => checkForm(deps, ctx, ready, object, slices));
  return checkForm(deps, ctx, ready, forms.object, slices);
}
function checkForm(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  validated: ApiObject,
  slices: Slices | undefined,
): MaybePromise<void> {
  const { kind } = ctx.resource;
  const errors = new FieldErrors();
  validateMetadata(deps.env, kind, ready, errors);
  validateKey(ctx, ready, errors);
  if (slices !== undefined) return checkInSlices(deps, ctx, ready, validated, errors, slices);
  const work = kind.strategy?.validate?.(validated as never, errors, deps.env, ctx);
  const done = work === undefined ? undefined : soonOrInSlices(work);
  if (done instanceof Promise) return concludeLater(done, deps, ctx, ready, errors);
  conclude(deps, ctx, ready, errors);
}
/** The rules for a large object, with pauses between the walks over it. */
async function checkInSlices(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  validated: ApiObject,
  errors: FieldErrors,
  slices: Slices,
): Promise<void> {
  await slices.pause();
  const work = ctx.resource.kind.strategy?.validate?.(validated as never, errors, deps.env, ctx);
  if (work !== undefined) await inSlices(work, slices);
  await slices.pause();
  conclude(deps, ctx, ready, errors);
}
async function concludeLater(
  done: Promise<void>,
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  errors: FieldErrors,
): Promise<void> {
  await done;
  conclude(deps, ctx, ready, errors);
}
function conclude(deps: RegistryDeps, ctx: WriteContext, ready: ApiObject, errors: FieldErrors): void {
  const { groupKind, kind } = ctx.resource;
  if (!errors.empty) throw invalid(groupKind, ready.metadata.name ?? '', errors.list);
  for (const text of kind.strategy?.warnings?.(ready as never, undefined, deps.env) ?? []) ctx.warn(text);
}

/** The name is that of another object, which may be on its way out. */
async function taken(target: WriteContext): Promise<ApiError> {
  await lookUp(target);
  const item = target.resource.collection?.items.get(keyOf(target));
  const deleting = item !== undefined && parseItem(item).metadata.deletionTimestamp !== undefined;
  return alreadyExists(target.resource.resource, target.name, deleting);
}

const withName = (ctx: WriteContext, name = ''): WriteContext => (ctx.name === name ? ctx : { ...ctx, name });

/** A version that an object can have. Other texts, and 0, are ignored: the server sets its own. */
const isVersion = (text: string): boolean => /^0*[1-9]\d*$/.test(text) && BigInt(text) < 1n << 64n;
const badRequestOnCreate = () => badRequest('resourceVersion should not be set on objects to be created');

/** What a client sends in these fields is ignored on create. */
function resetSystemFields(object: ApiObject, namespace: string): void {
  const meta = object.metadata;
  // To delete what is not there takes as long as to delete what is.
  if (meta.uid !== undefined) delete meta.uid;
  if (meta.selfLink !== undefined) delete meta.selfLink;
  if (meta.creationTimestamp !== undefined) delete meta.creationTimestamp;
  if (meta.deletionTimestamp !== undefined) delete meta.deletionTimestamp;
  if (meta.deletionGracePeriodSeconds !== undefined) delete meta.deletionGracePeriodSeconds;
  if (namespace === '') delete meta.namespace;
  else meta.namespace = namespace;
}
