/** Sets that are made of many nodes: the union of many sets, and what a client sent. Both can be interrupted. */
import type { Work } from '@plat-dev/lib/slices';
import { emptySet, type FieldSet, isEmpty, isMember, leaf, type MutableFieldSet } from './fieldset.ts';
import { canonicalElement, compareElements, ELEMENTS_A_STEP, SELF, sorted, sortedElements } from './path-element.ts';

/** Members of any of many sets. Each path is looked at once, however many sets there are. */
export function* unionOf(sets: readonly FieldSet[]): Work<FieldSet> {
  const filled = sets.filter((set) => !isEmpty(set));
  return filled.length === 0 ? emptySet : yield* allOf(filled, true, { stepsLeft: ELEMENTS_A_STEP });
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
      for (const element in this.set) if (element !== SELF) this.entries.set(element, [this.set[element] as FieldSet]);
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
    for (const element of elements.length < ELEMENTS_A_STEP ? sorted(elements) : yield* sortedElements(elements)) {
      if (isDue(pace)) yield;
      const nodes = this.entries.get(element) as FieldSet[];
      result[element] = nodes.length === 1 ? (nodes[0] as FieldSet) : yield* allOf(nodes, false, pace);
    }
    return result;
  }
}
/** How many elements are read before the next pause. */
export interface Pace {
  stepsLeft: number;
}
/** Whether to yield, after one more element. */
function isDue(pace: Pace): boolean {
  if (--pace.stepsLeft > 0) return false;
  pace.stepsLeft = ELEMENTS_A_STEP;
  return true;
}

// ---- sets of clients -------------------------------------------------------------------------------------------

/** How deep a set from a client may be; objects themselves are not deeper. */
const MAX_DEPTH = 500;

/**
 * A set that a client sent. Elements of an unknown kind are dropped, as a newer server may have written them.
 * Undefined when it cannot be read.
 */
export function* sentSet(fields: unknown, pace: Pace = { stepsLeft: ELEMENTS_A_STEP }): Work<FieldSet | undefined> {
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
