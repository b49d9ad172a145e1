/**
 * A cache of sets. Objects of one client mostly have the same fields, and so the same set, node for node: the sorted entries of a
 * node lead to the node that was made of them before.
 *
 *   f:name ─ f:value            { 'f:name': {}, 'f:value': {} }
 *      └──── f:valueFrom …      { 'f:name': {}, 'f:valueFrom': … }
 *
 * A node is found by the sequence of its elements and of the cached nodes below them.
 */
import { frozen } from '@plat-dev/lib/frozen';
import { cacheText } from '@plat-dev/schema/json';
import { type FieldSet, leaf } from './fieldset.ts';

/** Limit of cached steps; when it is reached the cache is cleared, and fills again with those in use. */
const MOST = 16_384;
/** Limit of steps with the same element and different nodes below; one more, and the others are dropped. */
const MOST_ALIKE = 16;
/** Nodes with more entries are mostly unique, and not cached. */
export const MOST_ENTRIES = 64;

/** A sequence of entries, identified by the last one. */
export class Edge {
  private cachedSet: FieldSet | undefined;
  private again = false;
  private readonly element: string;
  private readonly below: FieldSet;
  /** The step that was taken last from here, which is likely to be the next one, too. */
  private last: Edge | undefined;
  private others: Map<string, Edge[]> | undefined;

  constructor(element: string, below: FieldSet) {
    this.element = element;
    this.below = below;
  }

  to(element: string, below: FieldSet): Edge {
    const { last } = this;
    if (last !== undefined && last.below === below && last.element === element) return last;
    const next = this.find(element, below) ?? this.make(element, below);
    this.last = next;
    return next;
  }

  /** The set of the entries up to this one, if it was made before. */
  get set(): FieldSet | undefined {
    const { cachedSet } = this;
    if (cachedSet !== undefined && !this.again) {
      this.again = true;
      // A set that occurs twice is likely to occur again.
      cacheText(cachedSet);
    }
    return cachedSet;
  }
  keep(set: FieldSet): FieldSet {
    this.cachedSet = frozen(set);
    return set;
  }

  private find(element: string, below: FieldSet): Edge | undefined {
    const alike = this.others?.get(element);
    if (alike !== undefined) for (const step of alike) if (step.below === below) return step;
    return undefined;
  }
  private make(element: string, below: FieldSet): Edge {
    if (++count > MOST) forget();
    const step = new Edge(element, below);
    this.others ??= new Map();
    const alike = this.others.get(element);
    if (alike === undefined || alike.length >= MOST_ALIKE) this.others.set(element, [step]);
    else alike.push(step);
    return step;
  }
}

let count = 0;
let members = new Edge('', leaf);
let paths = new Edge('', leaf);

function forget(): void {
  count = 0;
  members = new Edge('', leaf);
  paths = new Edge('', leaf);
}

/** The start of the entries of a node; `member`: the node is a member itself. */
export const beginning = (member: boolean): Edge => (member ? members : paths);
