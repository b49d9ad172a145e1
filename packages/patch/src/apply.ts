/**
 * Server-side apply. The applied configuration is merged into the stored object, fields that the applier specified before and
 * no longer specifies are removed, and the applier owns what it specified. Fields that would change although another manager owns
 * them are conflicts, unless the apply is forced.
 */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { slashedApiVersion } from '@plat-dev/meta/api-version';
import { type ApiError, badRequest, unprocessable } from '@plat-dev/meta/errors';
import { DecodeError } from '@plat-dev/schema/errors';
import { checkApplied, fieldsOf } from './applied.ts';
import type { Applied, ApplyWrite } from './apply-write.ts';
import type { Comparison } from './compare.ts';
import { ApplyConflict, type Conflict } from './conflicts.ts';
import { difference, type FieldSet, intersection, isEmpty, setOf, union } from './fieldset.ts';
import { unionOf } from './fieldset-build.ts';
import { isMoved } from './item-order.ts';
import { keepLastApplied, ownedByLastApplied } from './last-applied.ts';
import { type ManagedFieldsEntry, type Manager, readManagers, wholeSeconds, withFields, writeManagers } from './managers.ts';
import { decodeMerged } from './merged.ts';
import { overlay } from './overlay.ts';
import { compareLarge, fieldsOfLarge } from './parts.ts';
import { prune, pruneAcross, type Versioned } from './prune.ts';
import { Comparisons, managedFieldsOf, managersAfterUpdate, reconcile, skippedPaths, unowned } from './record-update.ts';
import { isObject, type Shape, shapeOf, Untyped, type Values } from './shape.ts';

const FIRST_APPLY = 'before-first-apply';

/** The result of an apply, at once. Throws ApiError: a body that does not match the schema, a conflict. */
export const apply = (write: ApplyWrite): Applied => atOnce(appliedObject(write));

/** The same as work that can be interrupted between its walks over the object. */
export function* appliedObject(write: ApplyWrite): Work<Applied> {
  checkBody(write);
  yield;
  const { clientApply, force } = write;
  let done: Applied;
  try {
    done = yield* mergedObject(write, force);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    checkTakeover(write, error);
    yield;
    done = yield* mergedObject(write, true);
  }
  return clientApply === undefined ? done : keepLastApplied(clientApply, write, done);
}

/** Fields of client-side apply by the same client cause no conflict. Throws ApiError where others do. */
function checkTakeover(write: ApplyWrite, conflict: ApplyConflict): void {
  const ownFields = write.clientApply === undefined ? undefined : ownedByLastApplied(write.clientApply, write);
  const remainingConflict = ownFields === undefined ? conflict : conflict.without(ownFields);
  if (remainingConflict.conflicts.length > 0) throw remainingConflict.toError();
}

// ---- the body ----------------------------------------------------------------------------------------------------

function checkBody(write: ApplyWrite): void {
  const { applied, apiVersion, kind, type } = write;
  const version = typeof applied.apiVersion === 'string' ? applied.apiVersion : '';
  if (version !== apiVersion)
    throw badRequest(`Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${apiVersion}`);
  const { metadata } = applied;
  if (isObject(metadata) && metadata.managedFields !== undefined && metadata.managedFields !== null)
    throw badRequest('metadata.managedFields must be nil');
  if (applied.kind !== kind) {
    const objectName = nameOf(write);
    throw refusal(write, `no corresponding type for ${objectName.slice(objectName.indexOf('; ') + 2)}`);
  }
  const errors = checkApplied(type, applied);
  if (errors.length > 0) throw refusal(write, errors.length === 1 ? (errors[0] as string) : `errors:\n  ${errors.join('\n  ')}`);
}
function refusal(write: ApplyWrite, why: string): ApiError {
  return badRequest(`failed to create typed patch object (${nameOf(write)}): ${why}`);
}
/** `namespace/name; group/version, Kind=kind`, as far as the body has them. */
function nameOf({ applied }: ApplyWrite): string {
  const metadata = isObject(applied.metadata) ? applied.metadata : {};
  const version = String(applied.apiVersion ?? '');
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${slashedApiVersion(version)}, Kind=${applied.kind ?? ''}`;
}

// ---- the merge ---------------------------------------------------------------------------------------------------

function* mergedObject(write: ApplyWrite, force: boolean): Work<Applied> {
  const { type, live, applied, apiVersion, subresource = '' } = write;
  const shape = shapeOf(type);
  const skipped = skippedPaths(write.resetFields);
  const storedEntries = live === undefined ? undefined : managedFieldsOf(live);
  const managersBefore = managersOf(storedEntries) ?? (live === undefined ? [] : yield* firstManagers(write, live));
  try {
    yield;
    const set = write.large ? yield* fieldsOfLarge(shape, applied, skipped) : fieldsOf(shape, applied, skipped);
    yield;
    const self: Manager = {
      name: write.manager,
      operation: 'Apply',
      apiVersion,
      subresource,
      time: undefined,
      fields: set,
      entry: undefined,
    };
    const last = managersBefore.find((manager) => isSame(manager, self));
    const others = managersBefore.filter((manager) => manager !== last);
    const merged = (live === undefined ? applied : overlay(shape, live, applied, write.rules?.comparesWhole === true)) as Values;
    yield;
    const prunedObject =
      last === undefined || isAllSpecified(shape, last, self) ? merged : yield* pruned(write, merged, last, self, others);
    yield;
    const comparison = write.large ? yield* compareLarge(shape, live, prunedObject, skipped) : undefined;
    const versions = new Comparisons(write, live, prunedObject, skipped, () => decodedObject(write, prunedObject), comparison);
    yield;
    const managersAfter = yield* remainingManagers(others, versions, force);
    const same = isSameObject(versions.own.comparison) && !(write.rules?.comparesWhole === true && differsOtherwise(write, prunedObject));
    const time = same && live !== undefined && write.rules?.timesOfChanges === true ? last?.time : wholeSeconds(write.now);
    if (!isEmpty(set)) managersAfter.push({ ...self, time });
    if (same && live !== undefined && sameOwners(managersBefore, managersAfter))
      return { object: live, managedFields: storedEntries as ManagedFieldsEntry[] };
    yield;
    return { object: same && live !== undefined ? live : decodedObject(write, prunedObject), managedFields: writeManagers(managersAfter) };
  } catch (error) {
    if (error instanceof Untyped) throw unprocessable(`failed to create typed live object (${nameOf(write)}): ${error.message}`);
    throw error;
  }
}

function isSame(manager: Manager, self: Manager): boolean {
  return manager.operation === 'Apply' && manager.name === self.name && manager.subresource === self.subresource;
}
function isSameObject({ changed, removed }: Comparison): boolean {
  return isEmpty(changed) && isEmpty(removed);
}
/** Whether items were moved, or fields without owners have other values, although no owned field has. */
function differsOtherwise({ type, live, resetFields = [] }: ApplyWrite, object: Values): boolean {
  if (live === undefined) return false;
  const isOther = (path: readonly string[]): boolean =>
    path[path.length - 1] !== 'managedFields' && !equal(valueAt(live, path), valueAt(object, path));
  return [...unowned, ...resetFields].some(isOther) || isMoved(shapeOf(type), live, object);
}
const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce((value, name) => (isObject(value) ? own(value, name) : undefined), object);

function sameOwners(before: readonly Manager[], after: readonly Manager[]): boolean {
  return (
    before.length === after.length &&
    after.every((manager) =>
      before.some(
        (old) =>
          old.name === manager.name &&
          old.operation === manager.operation &&
          old.apiVersion === manager.apiVersion &&
          old.subresource === manager.subresource &&
          old.entry !== undefined &&
          equal(old.fields, manager.fields),
      ),
    )
  );
}

/** The managers of the stored object, if it has some. */
function managersOf(storedEntries: readonly ManagedFieldsEntry[] | undefined): readonly Manager[] | undefined {
  const managers = storedEntries === undefined ? undefined : readManagers(storedEntries, true);
  return managers?.length === 0 ? undefined : managers;
}
/** The fields of an object without managers belong to its previous writer. */
const firstManagers = (write: ApplyWrite, live: Values): Work<readonly Manager[]> =>
  managersAfterUpdate({ ...write, manager: FIRST_APPLY, live: undefined, object: live }, []);

/** The remaining fields of other managers: without those that the apply changes or removes. */
function* remainingManagers(others: readonly Manager[], versions: Comparisons, force: boolean): Work<Manager[]> {
  const remaining: Manager[] = [];
  const conflicts: Conflict[] = [];
  for (const manager of others) {
    const version = versions.at(manager.apiVersion);
    if (version === undefined) continue;
    const { shape, comparison } = version;
    const fields = reconcile(shape, manager.fields);
    const lostFields = intersection(fields, comparison.changed);
    yield;
    if (!isEmpty(lostFields)) conflicts.push({ manager, fields: lostFields });
    const keptFields = difference(difference(fields, comparison.changed), comparison.removed);
    if (!isEmpty(keptFields)) remaining.push(withFields(manager, keptFields));
    yield;
  }
  if (conflicts.length > 0 && !force) throw new ApplyConflict(conflicts);
  return remaining;
}

/** Every object has metadata and a name, regardless of its owners. */
const everyones: FieldSet = union(setOf(['f:metadata']), setOf(['f:metadata', 'f:name']));

/** Mostly an applier specifies the same fields as before, and nothing is removed. */
const isAllSpecified = (shape: Shape, last: Manager, self: Manager): boolean =>
  last.apiVersion === self.apiVersion && isEmpty(difference(reconcile(shape, last.fields), self.fields));

function* pruned(write: ApplyWrite, merged: Values, last: Manager, self: Manager, others: readonly Manager[]): Work<Values> {
  const { apiVersion } = write;
  const shape = shapeOf(write.type);
  if (last.apiVersion === apiVersion && others.every((other) => other.apiVersion === apiVersion)) {
    const lastFields = reconcile(shape, last.fields);
    const sets = [union(everyones, self.fields)];
    for (const other of others) {
      sets.push(reconcile(shape, other.fields));
      yield;
    }
    const owned = yield* unionOf(sets);
    yield;
    return prune(shape, merged, lastFields, owned);
  }
  const owned = new Map<string, FieldSet>();
  const byVersion = new Map<string, FieldSet[]>();
  for (const owner of [...others, self]) {
    const sets = byVersion.get(owner.apiVersion);
    if (sets === undefined) byVersion.set(owner.apiVersion, [everyones, owner.fields]);
    else sets.push(owner.fields);
  }
  for (const [version, sets] of byVersion) owned.set(version, yield* unionOf(sets));
  yield;
  return pruneAcross({ apiVersion, shape, object: merged }, last, owned, (object, to) => convertedTo(write, object, to)).object;
}

function convertedTo(write: ApplyWrite, from: Versioned, to: string): Versioned | undefined {
  if (from.apiVersion === to) return from;
  let { object } = from;
  if (from.apiVersion !== write.apiVersion) {
    const back = write.convertBack?.(object, from.apiVersion);
    if (back === undefined) return undefined;
    object = back;
  }
  if (to === write.apiVersion) return { apiVersion: to, shape: shapeOf(write.type), object };
  const convertedObject = write.convert?.(decodedObject(write, object), to);
  return convertedObject === undefined
    ? undefined
    : { apiVersion: to, shape: shapeOf(convertedObject.type), object: convertedObject.object };
}

function decodedObject(write: ApplyWrite, object: Values): Values {
  try {
    return write.decode === undefined ? decodeMerged(write.type, write.live, object) : write.decode(object);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const name = nameOf(write);
    throw badRequest(
      `failed to convert new object (${name}) to proper version: unable to convert unstructured object to ${name.slice(name.indexOf('; ') + 2)}: ${error.message}`,
    );
  }
}
