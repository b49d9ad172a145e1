/** create: own fields → mutating admission → prepare → hooks → validate → validating admission → commit. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { inSlices, type Slices } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import { type ApiError, alreadyExists, badRequest, conflict, forbidden, invalid } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { formatTime } from '@plat-dev/meta/time';
import { clonedJson, cloneJson } from '@plat-dev/schema/json/plain';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';
import type { Item } from '@plat-dev/storage/item';
import type { AdmissionRequest } from '../admission/types.ts';
import { admissionRequest, boundedValue, commitPut, encodeBounded, hookOf, type Put, storeKey, unsavedItem } from './commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from './context.ts';
import { checkNamespace, dropClusterName, generatedName, validateKey, validateMetadata } from './metadata.ts';
import { recordOwners, repairOwners } from './ownership.ts';
import { unreadableAt } from './unreadable.ts';
import { requestForms } from './validated-forms.ts';
import { parseItem } from './versions.ts';
import { hookOperations, runRules } from './write-stages.ts';

/** How often a generated name that is taken is replaced by another. */
const NAME_TRIES = 8;
/** Attempts of a create whose address or port was taken by another write meanwhile. */
const TRIES = 20;
const CROWDED = 'too many conflicting writes; try again';

/**
 * `object` is in the request version, decoded and defaulted; it is changed. `owned` says that its managedFields are
 * already right (an apply that creates).
 */
export async function create(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, owned = false): Promise<Item> {
  // A hook fills in what the server chose for the object; a retry chooses again.
  const copyOf = async (value: ApiObject): Promise<ApiObject> => {
    const slices = ctx.request?.slices();
    const copy: unknown = slices === undefined ? cloneJson(value) : await inSlices(clonedJson(value), slices);
    return copy as ApiObject;
  };
  const pristine = hookOf(deps, ctx.resource) === undefined ? undefined : await copyOf(object);
  const isNamed = object.metadata.name !== undefined;
  for (let attempt = 1; ; attempt++) {
    const input = attempt === 1 || pristine === undefined ? object : await copyOf(pristine);
    try {
      return await attemptCreate(deps, ctx, input, owned);
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      // The next attempt generates a name again.
      if (!isNamed) delete input.metadata.name;
      if (attempt >= TRIES) throw conflict(ctx.resource.resource, input.metadata.name ?? '', CROWDED);
    }
  }
}

/** Releases from this one on drop what the server sets itself before they look at who owns which field. */
const DROPPED_FIRST_SINCE = '1.25';

/** Throws CommitConflict when something else than the name was taken meanwhile: a quota, an address. */
async function attemptCreate(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, owned: boolean): Promise<Item> {
  const { versions, kind, isHub } = ctx.resource;
  const slices = ctx.request?.slices();
  checkTarget(ctx, object);
  if (kind.createRefused !== undefined && deps.env.since('1.34'))
    throw forbidden(ctx.resource.resource, object.metadata.name ?? '', kind.createRefused);
  const namespace = kind.namespaced ? ctx.namespace : '';
  // Earlier releases record owners of what they drop then.
  if (isAtLeast(deps.catalog.release, DROPPED_FIRST_SINCE)) resetSystemFields(object, namespace);
  if (!owned) await recordOwners(deps, ctx, object, undefined);
  if (slices !== undefined) await slices.pause();
  resetSystemFields(object, namespace);
  const hub = isHub ? object : await versions.accept(object);
  const managers = hub.metadata.managedFields;
  const request = admissionRequest(withName(ctx, hub.metadata.name), 'CREATE', hub, undefined, ctx.name);
  await deps.admission.admit(request);
  if (slices !== undefined) await slices.pause();
  const creation = prepare(deps, ctx, request, hub, managers);
  const hook = hookOf(deps, ctx.resource);
  const operations = hook === undefined ? undefined : await hookOperations(hook, deps.env, ctx, creation.object, undefined);
  if (slices !== undefined) await slices.pause();
  await validate(deps, ctx, creation.object, slices);
  nameRequest(creation);
  await deps.admission.validate(request);
  if (slices !== undefined) await slices.pause();
  if (ctx.dryRun) return answerDryRun(deps, ctx, creation, slices);
  if (!owned) checkNoVersion(creation);
  return commit(deps, ctx, creation, operations, slices);
}

/** An object on its way into the store, in hub form, from its admission on. */
interface Creation {
  readonly object: ApiObject;
  readonly request: AdmissionRequest;
  /** The server chooses its name. */
  readonly nameGenerated: boolean;
  /** The resourceVersion that it came with. */
  readonly sentVersion: string | undefined;
}

/** The object is the one that the path names. */
function checkTarget(ctx: WriteContext, object: ApiObject): void {
  checkNamespace(ctx, object);
  if (ctx.name !== '' && object.metadata.name !== ctx.name)
    throw badRequest(`the name of the object (${object.metadata.name ?? ''}) does not match the name on the URL (${ctx.name})`);
  dropClusterName(ctx, object);
}

/** Sets what the server alone sets. `managers`: those of the object's fields before admission. */
function prepare(
  deps: RegistryDeps,
  ctx: WriteContext,
  request: AdmissionRequest,
  hub: ApiObject,
  managers: ApiObject['metadata']['managedFields'],
): Creation {
  const { resource } = ctx;
  const object = request.object as ApiObject;
  repairOwners(ctx, object, managers);
  resource.versions.fillDefaults(object, hub);
  const { metadata } = object;
  const nameGenerated = metadata.name === undefined && metadata.generateName !== undefined;
  if (nameGenerated) metadata.name = generatedName(metadata.generateName as string, deps.randomBelow);
  metadata.uid = deps.newUid();
  metadata.creationTimestamp = formatTime(deps.env.now());
  const sentVersion = metadata.resourceVersion;
  if (sentVersion !== undefined) delete metadata.resourceVersion;
  if (resource.kind.generation) metadata.generation = 1;
  resource.gated.clear(object, undefined);
  resource.kind.strategy?.prepareForCreate?.(object as never, deps.env, ctx);
  return { object, request, nameGenerated, sentVersion };
}

/** The rules for what is created; then the object is in the one form in which it is stored. Throws `invalid`. */
async function validate(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, slices: Slices | undefined): Promise<void> {
  const { groupKind, kind, versions } = ctx.resource;
  const validatedObject = versions.validatesRequestVersion ? (await requestForms(deps, ctx, object, undefined)).object : object;
  const errors = new FieldErrors();
  validateMetadata(deps.env, kind, object, errors);
  validateKey(ctx, object, errors);
  if (slices !== undefined) await slices.pause();
  const rules = kind.strategy?.validate?.(validatedObject as never, errors, deps.env, ctx);
  if (rules !== undefined) await runRules(rules, slices);
  if (slices !== undefined) await slices.pause();
  if (!errors.empty) throw invalid(groupKind, object.metadata.name ?? '', errors.list);
  for (const text of kind.strategy?.warnings?.(object as never, undefined, deps.env) ?? []) ctx.warn(text);
  const rewriting = kind.strategy?.canonicalize?.(object as never);
  if (rewriting !== undefined) await runRules(rewriting, slices);
}

/** Validating admission sees the name that the server chose. */
function nameRequest({ request, object, nameGenerated }: Creation): void {
  request.name = object.metadata.name ?? '';
  if (nameGenerated) request.nameGenerated = true;
}

/** The object as it would be stored. Throws as a commit would. */
async function answerDryRun(
  deps: RegistryDeps,
  ctx: WriteContext,
  { object, sentVersion }: Creation,
  slices: Slices | undefined,
): Promise<Item> {
  const { resource } = ctx;
  const target = withName(ctx, object.metadata.name);
  if (resource.collection?.pending !== undefined) await lookUp(target);
  if (resource.collection?.items.get(keyOf(target)) !== undefined || unreadableAt(target) !== undefined) throw await nameTaken(target);
  if (slices === undefined) encodeBounded(deps, resource, object);
  else await inSlices(boundedValue(deps, resource, object), slices);
  // What is not stored has no version of its own: the answer repeats what was sent.
  if (sentVersion !== undefined) object.metadata.resourceVersion = sentVersion;
  return unsavedItem(resource, keyOf(target), object, slices);
}

/** Tries another name where a generated one is taken. */
async function commit(
  deps: RegistryDeps,
  ctx: WriteContext,
  { object, request, nameGenerated }: Creation,
  operations: Operation[] | undefined,
  slices: Slices | undefined,
): Promise<Item> {
  const { resource } = ctx;
  const { sideWrites, commitSteps: steps } = request;
  const put: Put = { object, shared: slices !== undefined, expect: 0, created: 0, more: operations, sideWrites, steps };
  for (let attempt = 1; ; attempt++) {
    const target = withName(ctx, object.metadata.name);
    // The text of a large object is made in slices, with each try: the name may be another one.
    if (slices !== undefined) {
      put.value = await inSlices(boundedValue(deps, resource, object), slices);
      await slices.pause();
    }
    try {
      const item = await commitPut(deps, target, put);
      resource.versions.recent.keepCreated(resource, resource.collection?.prefix ?? '', item, object);
      return item;
    } catch (error) {
      if (!(error instanceof CommitConflict) || error.key !== storeKey(target)) throw error;
      if (!nameGenerated || attempt >= NAME_TRIES) throw await nameTaken(target);
      object.metadata.name = generatedName(object.metadata.generateName as string, deps.randomBelow);
    }
  }
}

/** The name is that of another object, which may be on its way out. */
async function nameTaken(target: WriteContext): Promise<ApiError> {
  await lookUp(target);
  const item = target.resource.collection?.items.get(keyOf(target));
  const deleting = item !== undefined && parseItem(item).metadata.deletionTimestamp !== undefined;
  return alreadyExists(target.resource.resource, target.name, deleting);
}

const withName = (ctx: WriteContext, name = ''): WriteContext => (ctx.name === name ? ctx : { ...ctx, name });

function checkNoVersion({ sentVersion }: Creation): void {
  if (sentVersion !== undefined && isVersion(sentVersion)) throw badRequest('resourceVersion should not be set on objects to be created');
}
/** A version that an object can have. Other texts, and 0, are ignored: the server sets its own. */
const isVersion = (text: string): boolean => /^0*[1-9]\d*$/.test(text) && BigInt(text) < 1n << 64n;

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
