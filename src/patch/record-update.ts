/**
 * Who owns what after a create, an update or a patch that is not an apply: the writer takes what it changed, whoever
 * owned it loses it, and what is gone is nobody's.
 */
import { atOnce, type Work } from '../lib/slices.ts';
import type { MessageType } from '../schema/types.ts';
import { type Comparison, compare, type Skipped } from './compare.ts';
import { compareSteps } from './compare-steps.ts';
import { difference, type FieldSet, isEmpty, leaf, type MutableFieldSet, union } from './fieldset.ts';
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
import { type Shape, shapeOf, shapeOfElement, Untyped, type Values } from './shape.ts';

/** The same object in another version of its kind, with the type of that version. Undefined: there is no such version. */
export type Convert = (object: Values, apiVersion: string) => { readonly type: MessageType; readonly object: Values } | undefined;

/** What every write says about itself. Objects are in the normal form of the version that the request speaks. */
export interface Write {
  readonly type: MessageType;
  /** `apps/v1`: the version that the request speaks. */
  readonly apiVersion: string;
  /** Name of the manager; see `managerName`. */
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Paths that this way of writing resets (`resetFields` of the strategy): never owned through it. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** Needed where entries of other versions may be met; without it they are dropped as of a version that is gone. */
  readonly convert?: Convert | undefined;
  /** The object is large: walks over it yield. */
  readonly large?: boolean;
}
export interface UpdateWrite extends Write {
  /** The stored object; undefined on create. */
  readonly live: Values | undefined;
  /** The object that will be stored, with the managedFields that the client sent. */
  readonly object: Values;
}

/** The managedFields of `object` after the write; undefined when nobody owns anything. Changes none of its inputs. */
export function recordUpdate(write: UpdateWrite): ManagedFieldsEntry[] | undefined {
  return atOnce(record(write, false));
}

/** The same as work that can be interrupted between its walks over the object. */
export function recordUpdateSteps(write: UpdateWrite): Work<ManagedFieldsEntry[] | undefined> {
  return record(write, true);
}
/** `pauses`: it may be interrupted. Small objects are not, as each pause has a price. */
function* record(write: UpdateWrite, pauses: boolean): Work<ManagedFieldsEntry[] | undefined> {
  const { live, object, subresource = '' } = write;
  const sent = managedFieldsOf(object);
  const stored = live === undefined ? undefined : managedFieldsOf(live);
  const reset = subresource === '' && isReset(sent);
  const edited = !reset && editsManagers(stored, sent, subresource);
  const before = reset ? [] : edited ? yield* editedManagers(stored, sent) : storedManagers(stored);
  // An object whose fields are not followed stays so until somebody applies; a reset begins to follow them anew.
  if (before.length === 0 && live !== undefined && !reset) return undefined;
  if (pauses) yield;
  const after = yield* updateSteps(write, before, pauses);
  if (stored !== undefined && sameManagers(stored, after)) return stored as ManagedFieldsEntry[];
  return writeManagers(after);
}

export function managersAfterUpdate(write: UpdateWrite, before: Manager[]): readonly Manager[] {
  return atOnce(updateSteps(write, before, false));
}
function* updateSteps(write: UpdateWrite, before: Manager[], pauses: boolean): Work<readonly Manager[]> {
  try {
    return yield* update(write, before, pauses);
  } catch (error) {
    // Items of a list that cannot be told apart, in either state: ownership stays as it was.
    if (error instanceof Untyped) return before;
    throw error;
  }
}

function* update(write: UpdateWrite, before: Manager[], pauses: boolean): Work<readonly Manager[]> {
  const { apiVersion, subresource = '' } = write;
  const skipped = skippedPaths(write.resetFields);
  const comparison = write.large ? yield* compareSteps(shapeOf(write.type), write.live, write.object, skipped) : undefined;
  const versions = new Versions(write, write.live, write.object, skipped, undefined, comparison);
  const mine = versions.own.comparison;
  const takes = !isEmpty(mine.changed);
  const after: Manager[] = [];
  let own: Manager | undefined;
  let taken = mine.changed;
  for (const manager of before) {
    const version = versions.at(manager.apiVersion);
    if (version === undefined) continue;
    const { shape, comparison } = version;
    if (pauses) yield;
    const left = difference(reconcile(shape, manager.fields), comparison.removed);
    if (pauses) yield;
    if (takes && isUpdater(manager, write.manager, apiVersion, subresource)) {
      own = manager;
      taken = union(left, mine.changed);
      if (pauses) yield;
    } else {
      const rest = difference(left, comparison.changed);
      if (!isEmpty(rest)) after.push(withFields(manager, rest));
    }
  }
  // The time of an updater is that of its set: new values in fields that it owned already do not move it.
  if (own !== undefined && taken === own.fields) after.push(own);
  else if (takes) {
    const time = wholeSeconds(write.now);
    after.push({ name: write.manager, operation: 'Update', apiVersion, subresource, time, fields: taken, entry: undefined });
  }
  return foldOldest(after);
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

/** Comparisons of the object's two states, made once for each version that an entry names. */
export class Versions {
  /** The version that the request speaks. */
  readonly own: Version;
  private readonly write: Write;
  private readonly before: Values | undefined;
  private readonly skipped: Skipped;
  private readonly normalAfter: () => Values;
  private others: Map<string, Version | undefined> | undefined;

  /**
   * `after` may be as a client sent it; `normal` then gives it in the normal form, which conversion wants. `comparison` of the
   * two, where it was made already.
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
    this.own = { shape, comparison: comparison ?? compare(shape, before, after, skipped) };
    this.write = write;
    this.before = before;
    this.normalAfter = normal;
    this.skipped = skipped;
    this.others = undefined;
  }
  /** Undefined for a version that there is not. */
  at(apiVersion: string): Version | undefined {
    if (apiVersion === this.write.apiVersion) return this.own;
    this.others ??= new Map();
    if (this.others.has(apiVersion)) return this.others.get(apiVersion);
    const made = this.make(apiVersion);
    this.others.set(apiVersion, made);
    return made;
  }
  private make(apiVersion: string): Version | undefined {
    const { convert } = this.write;
    const after = convert?.(this.normalAfter(), apiVersion);
    if (after === undefined) return undefined;
    const before = this.before === undefined ? undefined : convert?.(this.before, apiVersion)?.object;
    const shape = shapeOf(after.type);
    return { shape, comparison: compare(shape, before, after.object, this.skipped) };
  }
}

// ---- paths that nobody owns ------------------------------------------------------------------------------------

/** What identifies an object, or is set by the server on every write, has no owner. */
const unowned: readonly (readonly string[])[] = [
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
  const known = skippedByReset.get(resetFields);
  if (known !== undefined) return known;
  const made = skipPaths([...unowned, ...resetFields]);
  skippedByReset.set(resetFields, made);
  return made;
}
function skipPaths(paths: readonly (readonly string[])[]): Skipped {
  const root = { self: false, fields: new Map<string, Skipped | true>() };
  for (const path of paths) {
    let { fields } = root;
    path.forEach((name, i) => {
      const known = fields.get(name);
      if (known === true) return;
      if (i === path.length - 1) fields.set(name, true);
      else {
        const next = (known as { self: boolean; fields: Map<string, Skipped | true> } | undefined) ?? {
          // Metadata is there in every object: it has no owner itself.
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

/** What a list, map or message that has become atomic since the set was written makes of it: its owner owns it whole. */
export function reconcile(shape: Shape, set: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (child === leaf) continue;
    const below = shapeOfElement(shape, element);
    // Whether a set is empty is asked last: of a wide one the answer is no cheaper than a walk.
    const whole = below.node === 'leaf';
    const next = !whole ? reconcile(below, child) : below.type.node === 'scalar' || isEmpty(child) ? child : leaf;
    if (next === child) continue;
    result ??= { ...set };
    result[element] = next;
  }
  return result ?? set;
}
