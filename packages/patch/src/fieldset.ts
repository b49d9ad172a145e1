/**
 * A set of field paths, in the form of metadata.managedFields: it needs no conversion on reads or writes.
 *
 *   {                                       the set of
 *     'f:data': { '.': {}, 'f:a': {} },       .data  and  .data.a
 *     'f:spec': { 'f:replicas': {} },         .spec.replicas  (but not .spec)
 *   }
 *
 * A node without entries is a member; a node with entries is a member only when `.` is among them. Entries are path elements
 * (`path-element.ts`), in their order. The empty root is the empty set.
 *
 * Sets are never changed once made, so that they share nodes with each other and with the objects they came from.
 */
import { elementText, SELF, sorted } from './path-element.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}
export type MutableFieldSet = { [element: string]: FieldSet };

/** A path that is a member and has nothing below it. */
export const leaf: FieldSet = Object.freeze({});
export const emptySet: FieldSet = leaf;

export function isEmpty(set: FieldSet): boolean {
  if (set === leaf) return true;
  for (const _ in set) return false;
  return true;
}
/** Whether a node below the root is a member itself, and not only an ancestor of members. */
export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

// ---- operations ------------------------------------------------------------------------------------------------

/** Members of `a` that are not members of `b`. Returns `a` itself when nothing is removed. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b === emptySet) return a;
  return without(a, b, true) ?? emptySet;
}
function without(a: FieldSet, b: FieldSet, root: boolean): FieldSet | undefined {
  if (a === b) return undefined;
  const member = !root && isMember(a);
  const keepsSelf = member && !isMember(b);
  let result: MutableFieldSet | undefined;
  let children = 0;
  for (const element in a) {
    if (element === SELF) continue;
    const child = a[element] as FieldSet;
    const otherChild = b[element];
    const remainingChild = otherChild === undefined ? child : without(child, otherChild, false);
    if (remainingChild !== child) result ??= copyUntil(a, element);
    if (remainingChild !== undefined) {
      children++;
      if (result !== undefined) result[element] = remainingChild;
    }
  }
  if (result === undefined && keepsSelf === member) return a;
  if (children === 0) return keepsSelf ? leaf : undefined;
  const remainingSet = result ?? { ...a };
  if (keepsSelf !== member) delete remainingSet[SELF];
  return remainingSet;
}
function copyUntil(set: FieldSet, end: string): MutableFieldSet {
  const copy: MutableFieldSet = {};
  for (const element in set) {
    if (element === end) break;
    copy[element] = set[element] as FieldSet;
  }
  return copy;
}

/** Members of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return common(a, b, true) ?? emptySet;
}
function common(a: FieldSet, b: FieldSet, root: boolean): FieldSet | undefined {
  if (a === b) return a;
  const member = !root && isMember(a) && isMember(b);
  let result: MutableFieldSet | undefined;
  for (const element in a) {
    if (element === SELF) continue;
    const otherChild = b[element];
    if (otherChild === undefined) continue;
    const shared = common(a[element] as FieldSet, otherChild, false);
    if (shared === undefined) continue;
    if (result === undefined) result = member ? { [SELF]: leaf } : {};
    result[element] = shared;
  }
  return result ?? (member ? leaf : undefined);
}

/** Members of either. Returns `a` itself when it contains all of `b`. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  return both(a, b, true);
}
function both(a: FieldSet, b: FieldSet, root: boolean): FieldSet {
  if (a === b) return a;
  const aIsLeaf = isEmpty(a);
  if (aIsLeaf && isEmpty(b)) return a;
  let changed: MutableFieldSet | undefined;
  let hasNew = false;
  for (const element in b) {
    if (element === SELF) continue;
    const ownChild = a[element];
    const mergedChild = ownChild === undefined ? (b[element] as FieldSet) : both(ownChild, b[element] as FieldSet, false);
    if (mergedChild === ownChild) continue;
    changed ??= { ...a };
    changed[element] = mergedChild;
    if (ownChild === undefined) hasNew = true;
  }
  const member = !root && (aIsLeaf || a[SELF] !== undefined || isMember(b));
  const gains = member && a[SELF] === undefined && !(aIsLeaf && changed === undefined);
  if (changed === undefined && !gains) return a;
  if (!hasNew && !gains) return changed as FieldSet;
  return inOrder(changed ?? a, member);
}
function inOrder(entries: FieldSet, member: boolean): FieldSet {
  const result: MutableFieldSet = member ? { [SELF]: leaf } : {};
  for (const element of sorted(Object.keys(entries))) result[element] = entries[element] as FieldSet;
  return result;
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const otherChild = b[element];
    if (otherChild === undefined || !sameSet(a[element] as FieldSet, otherChild)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** Whether the path of these elements is a member. */
export function has(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return node !== undefined && path.length > 0 && isMember(node);
}
/** The set of one path. */
export function setOf(path: readonly string[]): FieldSet {
  let node = leaf;
  for (let i = path.length - 1; i >= 0; i--) node = { [path[i] as string]: node };
  return node;
}
/** How many members the set has. */
export function size(set: FieldSet): number {
  let count = 0;
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (element === SELF || isEmpty(child)) count++;
    else count += size(child);
  }
  return count;
}

// ---- paths as text ---------------------------------------------------------------------------------------------

/** Every member as text, or the first ones, members of a level before those below it: `.spec.containers[name="main"].image`. */
export function paths(set: FieldSet, most = Number.POSITIVE_INFINITY, prefix = ''): string[] {
  const foundPaths: string[] = [];
  const deeper: [string, FieldSet][] = [];
  for (const element in set) {
    if (element === SELF) continue;
    if (foundPaths.length >= most) break;
    const child = set[element] as FieldSet;
    const text = prefix + elementText(element);
    if (isMember(child)) foundPaths.push(text);
    if (!isEmpty(child)) deeper.push([text, child]);
  }
  for (const [text, child] of deeper) {
    if (foundPaths.length >= most) break;
    for (const path of paths(child, most - foundPaths.length, text)) foundPaths.push(path);
  }
  return foundPaths;
}
