/**
 * A set of field paths, in the form of metadata.managedFields: it needs no conversion on reads or writes.
 *
 *   {                                       the set of
 *     'f:data': { '.': {}, 'f:a': {} },       .data  and  .data.a
 *     'f:spec': { 'f:replicas': {} },         .spec.replicas  (but not .spec)
 *   }
 *
 * A path element is `f:` and a field or map key, `k:` and the keys of a list item as JSON, `v:` and the value of a set
 * item as JSON, or `i:` and an index. A node without entries is a member; a node with entries is a member only when
 * `.` is among them. Entries are in the order of `compareElements`. The empty root is the empty set.
 *
 * Sets are never changed once made, so that they share nodes with each other and with the objects they came from.
 */
import { compareNumbers, isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { sortSteps } from '@plat-dev/lib/sort-steps';
import { parseExact } from '@plat-dev/schema/json/parse';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}
export type MutableFieldSet = { [element: string]: FieldSet };

/** A path that is a member and has nothing below it. */
export const leaf: FieldSet = Object.freeze({});
export const emptySet: FieldSet = leaf;

const SELF = '.';

export function isEmpty(set: FieldSet): boolean {
  if (set === leaf) return true;
  for (const _ in set) return false;
  return true;
}
/** Whether a node below the root is a member itself, and not only an ancestor of members. */
export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

/**
 * Order of elements in a set: fields, list keys, set values, indices; numbers by their value, texts by their letters.
 * `.` comes before all of them.
 */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return rank(kind) - rank(b.charCodeAt(0));
  if (kind === LETTER_F) return a < b ? -1 : 1;
  if (kind === LETTER_I) return Number(a.slice(2)) - Number(b.slice(2));
  return orderInText(a, b) || compareValues(parseExact(a.slice(2)), parseExact(b.slice(2)));
}
const LETTER_F = 0x66;
const LETTER_I = 0x69;
const LETTER_K = 0x6b;
const LETTER_V = 0x76;
function rank(letter: number): number {
  return letter === LETTER_F ? 1 : letter === LETTER_K ? 2 : letter === LETTER_V ? 3 : letter === LETTER_I ? 4 : 0;
}

/**
 * Order of two elements whose first difference is in a text and not in a number: then no parsing is needed. 0: it is
 * not, or the characters there are escaped.
 */
function orderInText(a: string, b: string): number {
  let at = 2;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const quote = a.lastIndexOf('"', at - 1);
  if (quote < 2 || a.charCodeAt(quote - 1) !== COLON || a.lastIndexOf(':', at - 1) > quote) return 0;
  const left = a.charCodeAt(at);
  const right = b.charCodeAt(at);
  if (left === BACKSLASH || right === BACKSLASH || a.charCodeAt(at - 1) === BACKSLASH) return 0;
  // The shorter text comes first, whatever follows in the other.
  return left === QUOTE ? -1 : right === QUOTE ? 1 : left - right;
}
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Elements in their order. */
export function sorted(elements: string[]): string[] {
  return elements.length < READ_FIRST ? elements.sort(compareElements) : atOnce(sortedSteps(elements));
}
const READ_FIRST = 64;
/** A long list in order, with pauses: its elements are parsed once each, and not once for every comparison. */
export function* sortedSteps(elements: string[]): Work<string[]> {
  const inText = elements.every((element) => element.charCodeAt(0) === LETTER_F || element === SELF) || arePlain(elements);
  yield;
  if (inText) return yield* sortSteps(elements, compareText);
  const read: ReadElement[] = [];
  for (const element of elements) {
    read.push(readElement(element));
    if (read.length % ELEMENTS_A_STEP === 0) yield;
  }
  yield* sortSteps(read, compareRead);
  for (let i = 0; i < read.length; i++) elements[i] = (read[i] as ReadElement).element;
  return elements;
}
/** Elements that are parsed between two pauses; a power of two. */
export const ELEMENTS_A_STEP = 1024;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A parsed element: the names and values of its keys, or its value alone. */
interface ReadElement {
  readonly element: string;
  readonly kind: number;
  readonly names: readonly string[];
  readonly values: readonly unknown[];
}
const noNames: readonly string[] = [];
function readElement(element: string): ReadElement {
  const kind = element.charCodeAt(0);
  if (kind !== LETTER_K && kind !== LETTER_V) return { element, kind, names: noNames, values: noNames };
  const value: unknown = parseExact(element.slice(2));
  if (typeof value !== 'object' || value === null) return { element, kind, names: noNames, values: [value] };
  return { element, kind, names: Object.keys(value), values: Object.values(value) };
}
/** The order of `compareElements`. */
function compareRead(a: ReadElement, b: ReadElement): number {
  if (a.kind !== b.kind || (a.kind !== LETTER_K && a.kind !== LETTER_V)) return compareElements(a.element, b.element);
  const most = Math.min(a.values.length, b.values.length);
  for (let i = 0; i < most; i++) {
    const leftName = a.names[i];
    const rightName = b.names[i];
    if (leftName !== rightName) return leftName === undefined || rightName === undefined ? 0 : leftName < rightName ? -1 : 1;
    const order = compareValues(a.values[i], b.values[i]);
    if (order !== 0) return order;
  }
  return a.values.length - b.values.length;
}

/** Whether the elements all have one key with an unescaped text: then they sort by their own text. */
function arePlain(elements: readonly string[]): boolean {
  const [first = ''] = elements;
  const start = first.charCodeAt(0) === LETTER_V ? 'v:"' : first.slice(0, first.indexOf(':"', 2) + 2);
  const end = first.charCodeAt(0) === LETTER_V ? '"' : '"}';
  if (start.length < 3) return false;
  for (const element of elements) {
    const last = element.length - end.length;
    if (last < start.length || !element.startsWith(start) || !element.endsWith(end)) return false;
    // The quote after a text comes before all of these letters.
    if (!plainText.test(element.slice(start.length, last))) return false;
  }
  return true;
}
const plainText = /^[#-[\]-~]*$/;

/** Key tuples are compared name by name; of different types, numbers come before texts, texts before booleans. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const left = Object.entries(a);
    const right = Object.entries(b);
    for (let i = 0; i < left.length && i < right.length; i++) {
      const [leftName, leftValue] = left[i] as [string, unknown];
      const [rightName, rightValue] = right[i] as [string, unknown];
      if (leftName !== rightName) return leftName < rightName ? -1 : 1;
      const order = compareValues(leftValue, rightValue);
      if (order !== 0) return order;
    }
    return left.length - right.length;
  }
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a !== typeof b) return typeRank(a) - typeRank(b);
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
}
function typeRank(value: unknown): number {
  return value === null ? 4 : isNumeric(value) ? 1 : typeof value === 'string' ? 2 : 3;
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
    const other = b[element];
    const rest = other === undefined ? child : without(child, other, false);
    if (rest !== child) result ??= copyUntil(a, element);
    if (rest !== undefined) {
      children++;
      if (result !== undefined) result[element] = rest;
    }
  }
  if (result === undefined && keepsSelf === member) return a;
  if (children === 0) return keepsSelf ? leaf : undefined;
  const kept = result ?? { ...a };
  if (keepsSelf !== member) delete kept[SELF];
  return kept;
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
    const other = b[element];
    if (other === undefined) continue;
    const shared = common(a[element] as FieldSet, other, false);
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
  let added = false;
  for (const element in b) {
    if (element === SELF) continue;
    const mine = a[element];
    const merged = mine === undefined ? (b[element] as FieldSet) : both(mine, b[element] as FieldSet, false);
    if (merged === mine) continue;
    changed ??= { ...a };
    changed[element] = merged;
    if (mine === undefined) added = true;
  }
  const member = !root && (aIsLeaf || a[SELF] !== undefined || isMember(b));
  const gains = member && a[SELF] === undefined && !(aIsLeaf && changed === undefined);
  if (changed === undefined && !gains) return a;
  if (!added && !gains) return changed as FieldSet;
  return inOrder(changed ?? a, member);
}
/** Members of any of many sets. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  return atOnce(unionSteps(sets));
}
/** The same as work that can be interrupted. Each path is looked at once, however many sets there are. */
export function* unionSteps(sets: readonly FieldSet[]): Work<FieldSet> {
  const filled = sets.filter((set) => !isEmpty(set));
  return filled.length === 0 ? emptySet : yield* allOf(filled, true, { left: ELEMENTS_A_STEP });
}
/** The union of nodes of one path; below the root an empty one is a member. */
function* allOf(nodes: readonly FieldSet[], root: boolean, pace: Pace): Work<FieldSet> {
  const [first] = nodes as [FieldSet];
  if (nodes.every((node) => node === first)) return first;
  const union = new Children(!root && nodes.some(isMember));
  for (const node of nodes)
    for (const element in node) {
      if (element === SELF) continue;
      if (isDue(pace)) yield;
      union.add(element, node[element] as FieldSet);
    }
  return yield* union.build(pace);
}

/** The node that is made of other nodes, which mostly come in order. */
class Children {
  private readonly member: boolean;
  private readonly set: MutableFieldSet;
  private last: string | undefined;
  /** Only for elements that are out of order or repeated. */
  private entries: Map<string, FieldSet[]> | undefined;

  constructor(member: boolean) {
    this.member = member;
    this.set = member ? { [SELF]: leaf } : {};
  }
  add(element: string, node: FieldSet): void {
    const { last } = this;
    this.last = element;
    if (this.entries === undefined) {
      if (last === undefined || compareElements(last, element) < 0) {
        this.set[element] = node;
        return;
      }
      this.entries = new Map();
      for (const known in this.set) if (known !== SELF) this.entries.set(known, [this.set[known] as FieldSet]);
    }
    const alike = this.entries.get(element);
    if (alike === undefined) this.entries.set(element, [node]);
    else alike.push(node);
  }
  *build(pace: Pace): Work<FieldSet> {
    if (this.last === undefined) return leaf;
    if (this.entries === undefined) return this.set;
    const result: MutableFieldSet = this.member ? { [SELF]: leaf } : {};
    const elements = [...this.entries.keys()];
    for (const element of elements.length < ELEMENTS_A_STEP ? sorted(elements) : yield* sortedSteps(elements)) {
      if (isDue(pace)) yield;
      const nodes = this.entries.get(element) as FieldSet[];
      result[element] = nodes.length === 1 ? (nodes[0] as FieldSet) : yield* allOf(nodes, false, pace);
    }
    return result;
  }
}
/** How many elements are read before the next pause. */
export interface Pace {
  left: number;
}
/** Whether to yield, after one more element. */
function isDue(pace: Pace): boolean {
  if (--pace.left > 0) return false;
  pace.left = ELEMENTS_A_STEP;
  return true;
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
    const other = b[element];
    if (other === undefined || !sameSet(a[element] as FieldSet, other)) return false;
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
  const found: string[] = [];
  const deeper: [string, FieldSet][] = [];
  for (const element in set) {
    if (element === SELF) continue;
    if (found.length >= most) break;
    const child = set[element] as FieldSet;
    const text = prefix + elementText(element);
    if (isMember(child)) found.push(text);
    if (!isEmpty(child)) deeper.push([text, child]);
  }
  for (const [text, child] of deeper) {
    if (found.length >= most) break;
    for (const path of paths(child, most - found.length, text)) found.push(path);
  }
  return found;
}

/** `f:a` → `.a`, `k:{"name":"main"}` → `[name="main"]`, `v:"x"` → `[="x"]`, `i:3` → `[3]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element.charCodeAt(0)) {
    case LETTER_F:
      return `.${rest}`;
    case LETTER_I:
      return `[${rest}]`;
    case LETTER_K:
      return `[${Object.entries(parseExact(rest) as object)
        .map(([name, value]) => `${name}=${jsonText(value)}`)
        .join(',')}]`;
    default:
      return `[=${rest}]`;
  }
}

// ---- sets of clients -------------------------------------------------------------------------------------------

/** How deep a set from a client may be; objects themselves are not deeper. */
const MAX_DEPTH = 500;

/**
 * Reads a set that a client sent. Elements of an unknown kind are dropped, as a newer server may have written them.
 * Returns undefined when it cannot be read.
 */
export function parseSet(fields: unknown): FieldSet | undefined {
  return atOnce(parseSetSteps(fields));
}
/** The same as work that can be interrupted: the set of a large object has tens of thousands of nodes. */
export function* parseSetSteps(fields: unknown, pace: Pace = { left: ELEMENTS_A_STEP }): Work<FieldSet | undefined> {
  try {
    return yield* parseNode(fields, 0, pace);
  } catch {
    // Keys that are not JSON, or a set that is nested too deeply.
    return undefined;
  }
}

function* parseNode(node: unknown, depth: number, pace: Pace): Work<FieldSet> {
  if (typeof node !== 'object' || node === null || Array.isArray(node) || depth > MAX_DEPTH) throw new Error('not a set');
  const children = new Children(Object.hasOwn(node, SELF));
  for (const element of Object.keys(node)) {
    const canonical = element === SELF ? undefined : canonicalElement(element);
    if (canonical === undefined) continue;
    if (isDue(pace)) yield;
    const child: unknown = (node as Record<string, unknown>)[element];
    children.add(canonical, depth < MAX_DEPTH && isLeaf(child) ? leaf : yield* parseNode(child, depth + 1, pace));
  }
  return yield* children.build(pace);
}
function isLeaf(node: unknown): boolean {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return false;
  for (const element in node) if (element !== SELF) return false;
  return true;
}
function canonicalElement(element: string): string | undefined {
  if (element.charCodeAt(1) !== 0x3a) throw new Error('missing colon');
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return element;
    case 'k': {
      const keys: unknown = parseExact(rest);
      if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new Error('not keys');
      return keysElement(Object.entries(keys));
    }
    case 'v':
      return `v:${jsonText(parseExact(rest))}`;
    case 'i':
      if (!/^-?\d{1,15}$/.test(rest)) throw new Error('not an index');
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}
/** The element of a list item with these key fields, whatever their order. */
function keysElement(keys: [string, unknown][]): string {
  const parts = keys.sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
  return `k:{${parts.join(',')}}`;
}
