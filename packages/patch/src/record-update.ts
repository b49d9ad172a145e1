/**
 * Field ownership after a create, an update or a patch that is not an apply: the writer owns what it changed, the previous
 * owner loses it, and removed fields have no owner.
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { MessageType } from '@plat-dev/schema/types';
import { type Comparison, compareAny, type Skipped } from './compare.ts';
import { difference, type FieldSet, isEmpty, leaf, type MutableFieldSet, paths, size, union } from './fieldset.ts';
import {
  editedManagers,
  editsManagers,
  foldOldest,
  isReset,
  isUpdater,
  type ManagedFields,
  type ManagedFieldsEntry,
  type Manager,
  storedManagers,
  wholeSeconds,
  withFields,
  writeManagers,
} from './managers.ts';
import { compareLarge } from './parts.ts';
import { type Shape, shapeOf, shapeOfElement, Untyped, type Values } from './shape.ts';

/** The same object in another version of its kind, with the type of that version. Undefined: there is no such version. */
export type Convert = (object: Values, apiVersion: string) => { readonly type: MessageType; readonly object: Values } | undefined;

/** What differs between releases of the API. */
export interface OwnershipRules {
  /** The time of an entry is that of its manager's last write that changed the object, instead of the last that changed its set. */
  readonly timesOfChanges: boolean;
  /**
   * An apply that only moves items of lists, or only sets fields without owners, changes the object; and lists may hold several items
   * of one key.
   */
  readonly comparesWhole: boolean;
}

/** The parameters of every write. Objects are in the normal form of the version of the request. */
export interface Write {
  /** Those of 1.24 by default. */
  readonly rules?: OwnershipRules;
  readonly type: MessageType;
  /** `apps/v1`: the version of the request. */
  readonly apiVersion: string;
  /** Name of the manager; see `managerName`. */
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Paths that this request resets (`resetFields` of the strategy): never owned by it. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** Needed if entries of other versions may occur; without it they are dropped, like those of a removed version. */
  readonly convert?: Convert | undefined;
  /** The object is large: walks over it yield. */
  readonly large?: boolean;
}
export interface UpdateWrite extends Write {
  /** The stored object; undefined on create. */
  readonly live: Values | undefined;
  /** The object that will be stored, with the managedFields of the client. */
  readonly object: Values;
  /** Called for each other manager whose applied fields this write takes over. */
  readonly onTakeover?: ((takeover: Takeover) => void) | undefined;
}

/** Fields that one manager applied and another has changed. */
export interface Takeover {
  /** The one that applied them. */
  readonly manager: string;
  /** The first ones. */
  readonly fields: readonly string[];
  readonly count: number;
}
const MOST_REPORTED = 5;

/** The managedFields of `object` after the write, at once; undefined when there are none. Changes none of its inputs. */
export const recordUpdate = (write: UpdateWrite): ManagedFieldsEntry[] | undefined => atOnce(recordedFields(write));

/** The same as work that can be interrupted between its walks over the object. */
export function* recordedFields(write: UpdateWrite): Work<ManagedFieldsEntry[] | undefined> {
  const entries = entriesOf(write);
  const { stored } = entries;
  const managersBefore = entries.edited ? yield* editedManagers(stored, entries.edited) : entries.reset ? [] : storedManagers(stored);
  if (isUnfollowed(write, entries, managersBefore)) return undefined;
  yield;
  return recorded(stored, yield* managersAfterUpdate(write, managersBefore));
}

interface Entries {
  readonly stored: ManagedFields | undefined;
  /** The client sent an empty list: ownership is reset. */
  readonly reset: boolean;
  /** The managedFields of the client, if they differ from the stored ones. */
  readonly edited: ManagedFields | undefined;
}
function entriesOf({ live, object, subresource = '' }: UpdateWrite): Entries {
  const sentEntries = managedFieldsOf(object);
  const storedEntries = live === undefined ? undefined : managedFieldsOf(live);
  const reset = subresource === '' && isReset(sentEntries);
  return {
    stored: storedEntries,
    reset,
    edited: !reset && editsManagers(storedEntries, sentEntries, subresource) ? sentEntries : undefined,
  };
}
/** Fields of an object without managers are not tracked until it is applied; a reset starts tracking again. */
const isUnfollowed = (write: UpdateWrite, { reset }: Entries, before: readonly Manager[]): boolean =>
  before.length === 0 && write.live !== undefined && !reset;

function recorded(stored: ManagedFields | undefined, after: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  return stored !== undefined && sameManagers(stored, after) ? (stored as ManagedFieldsEntry[]) : writeManagers(after);
}

export function* managersAfterUpdate(write: UpdateWrite, before: Manager[]): Work<readonly Manager[]> {
  try {
    const { live, object, resetFields } = write;
    const comparison = write.large ? yield* compareLarge(shapeOf(write.type), live, object, skippedPaths(resetFields)) : undefined;
    const update = new Update(write, comparison);
    for (const manager of before) {
      yield;
      const remainingFields = update.leftTo(manager);
      yield;
      if (remainingFields !== undefined) update.keep(manager, remainingFields);
    }
    return yield* foldOldest(update.end());
  } catch (error) {
    return asBefore(error, before);
  }
}
/** If items of a list have the same key, in either state, ownership is not changed, as with a stock server. */
function asBefore(error: unknown, before: readonly Manager[]): readonly Manager[] {
  if (error instanceof Untyped) return before;
  throw error;
}

/** What each manager owns after an update. */
class Update {
  private readonly write: UpdateWrite;
  private readonly versions: Comparisons;
  private readonly takes: boolean;
  private readonly managersAfter: Manager[] = [];
  /** The entry of the writer itself, and its resulting set. */
  private ownManager: Manager | undefined = undefined;
  private takenFields: FieldSet;

  constructor(write: UpdateWrite, comparison: Comparison | undefined) {
    this.write = write;
    this.versions = new Comparisons(write, write.live, write.object, skippedPaths(write.resetFields), undefined, comparison);
    this.takenFields = this.versions.own.comparison.changed;
    this.takes = !isEmpty(this.takenFields);
  }
  /** The fields of a manager that still exist. Undefined if its version is gone. */
  leftTo(manager: Manager): FieldSet | undefined {
    const version = this.versions.at(manager.apiVersion);
    return version && difference(reconcile(version.shape, manager.fields), version.comparison.removed);
  }
  keep(manager: Manager, remainingFields: FieldSet): void {
    const { manager: name, apiVersion, subresource = '' } = this.write;
    if (this.takes && isUpdater(manager, name, apiVersion, subresource)) {
      this.ownManager = manager;
      this.takenFields = union(remainingFields, this.versions.own.comparison.changed);
      return;
    }
    const unchangedFields = difference(remainingFields, (this.versions.at(manager.apiVersion) as Version).comparison.changed);
    if (unchangedFields !== remainingFields && manager.operation === 'Apply' && manager.name !== name)
      this.report(manager, difference(remainingFields, unchangedFields));
    if (!isEmpty(unchangedFields)) this.managersAfter.push(withFields(manager, unchangedFields));
  }
  private report(manager: Manager, fields: FieldSet): void {
    this.write.onTakeover?.({ manager: manager.name, fields: paths(fields, MOST_REPORTED), count: size(fields) });
  }
  end(): readonly Manager[] {
    const { write, ownManager, takenFields, managersAfter } = this;
    const timesOfSets = write.rules?.timesOfChanges !== true;
    if (timesOfSets && ownManager !== undefined && takenFields === ownManager.fields) managersAfter.push(ownManager);
    else if (this.takes) {
      const { manager: name, apiVersion, subresource = '' } = write;
      managersAfter.push({
        name,
        operation: 'Update',
        apiVersion,
        subresource,
        time: wholeSeconds(write.now),
        fields: takenFields,
        entry: undefined,
      });
    }
    return managersAfter;
  }
}

function sameManagers(stored: ManagedFields, after: readonly Manager[]): boolean {
  return stored.length === after.length && after.every((manager, i) => manager.entry !== undefined && manager.entry === stored[i]);
}

export function managedFieldsOf(object: Values): ManagedFields | undefined {
  return (object.metadata as { managedFields?: ManagedFields } | undefined)?.managedFields;
}

interface Version {
  readonly shape: Shape;
  readonly comparison: Comparison;
}

/** Comparisons of the object's two states, made once for each version of an entry. */
export class Comparisons {
  /** The version of the request. */
  readonly own: Version;
  private readonly write: Write;
  private readonly before: Values | undefined;
  private readonly skipped: Skipped;
  private readonly normalAfter: () => Values;
  private others: Map<string, Version | undefined> | undefined;
  private readonly repeats: boolean;

  /**
   * `after` may be as sent by a client; `normal` then gives it in the normal form, which conversion needs. `comparison` of the
   * two, if it was made already.
   */
  constructor(
    write: Write,
    before: Values | undefined,
    after: Values,
    skipped: Skipped,
    normal = () => after,
    comparison: Comparison | undefined = undefined,
  ) {
    const shape = shapeOf(write.type);
    this.repeats = write.rules?.comparesWhole === true;
    this.own = { shape, comparison: comparison ?? compareAny(shape, before, after, skipped, this.repeats) };
    this.write = write;
    this.before = before;
    this.normalAfter = normal;
    this.skipped = skipped;
    this.others = undefined;
  }
  /** Undefined for a version that does not exist. */
  at(apiVersion: string): Version | undefined {
    if (apiVersion === this.write.apiVersion) return this.own;
    this.others ??= new Map();
    if (this.others.has(apiVersion)) return this.others.get(apiVersion);
    const version = this.make(apiVersion);
    this.others.set(apiVersion, version);
    return version;
  }
  private make(apiVersion: string): Version | undefined {
    const { convert } = this.write;
    const after = convert?.(this.normalAfter(), apiVersion);
    if (after === undefined) return undefined;
    const before = this.before === undefined ? undefined : convert?.(this.before, apiVersion)?.object;
    const shape = shapeOf(after.type);
    return { shape, comparison: compareAny(shape, before, after.object, this.skipped, this.repeats) };
  }
}

// ---- paths without owners --------------------------------------------------------------------------------------

/** Fields that identify an object, or are set by the server on every write, have no owner. */
export const unowned: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['kind'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map(
    (name) => ['metadata', name],
  ),
];

const skippedByReset = new WeakMap<readonly (readonly string[])[], Skipped>();
const skippedAlways = skipPaths(unowned);

export function skippedPaths(resetFields: readonly (readonly string[])[] | undefined): Skipped {
  if (resetFields === undefined) return skippedAlways;
  const cachedPaths = skippedByReset.get(resetFields);
  if (cachedPaths !== undefined) return cachedPaths;
  const newPaths = skipPaths([...unowned, ...resetFields]);
  skippedByReset.set(resetFields, newPaths);
  return newPaths;
}
function skipPaths(paths: readonly (readonly string[])[]): Skipped {
  const root = { self: false, fields: new Map<string, Skipped | true>() };
  for (const path of paths) {
    let { fields } = root;
    path.forEach((name, i) => {
      const skippedBelow = fields.get(name);
      if (skippedBelow === true) return;
      if (i === path.length - 1) fields.set(name, true);
      else {
        const next = (skippedBelow as { self: boolean; fields: Map<string, Skipped | true> } | undefined) ?? {
          // Every object has metadata: it has no owner itself.
          self: i === 0 && name === 'metadata',
          fields: new Map<string, Skipped | true>(),
        };
        fields.set(name, next);
        fields = next.fields;
      }
    });
  }
  return root;
}

// ---- schemas that changed --------------------------------------------------------------------------------------

/** Adapts a set to a list, map or message that has become atomic since: its owner owns it whole. */
export function reconcile(shape: Shape, set: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (child === leaf) continue;
    const below = shapeOfElement(shape, element);
    // Whether a set is empty is checked last: for a wide one that costs as much as a walk.
    const whole = below.node === 'leaf';
    const next = !whole ? reconcile(below, child) : below.type.node === 'scalar' || isEmpty(child) ? child : leaf;
    if (next === child) continue;
    result ??= { ...set };
    result[element] = next;
  }
  return result ?? set;
}
