/** Builds sets of paths: collects the nodes of one level, in order. */
import { type FieldSet, leaf, type MutableFieldSet } from './fieldset.ts';
import { beginning, MOST_ENTRIES } from './interned.ts';
import { compareElements, elementText, sorted } from './path-element.ts';
import { anyShape, type FieldShape, keyElement, type MessageShape, Untyped } from './shape.ts';

/** The shape of a field; of one that the schema does not name, the shape of its value. Undefined: it is not kept. */
export function fieldOf(shape: MessageShape, name: string): FieldShape | undefined {
  const declaredField = shape.fields.get(name);
  if (declaredField !== undefined || !shape.open) return declaredField;
  return { name, element: `f:${name}`, rank: UNRANKED, always: false, zero: undefined, shape: anyShape };
}
const UNRANKED = -1;

/**
 * Nodes of fields, inserted in order at once, as messages have few fields. The fields of a message are collected above those of
 * the surrounding messages, so that one pair of arrays serves a whole walk.
 */
export class Gathered {
  top = 0;
  private readonly fields: FieldShape[] = [];
  private readonly nodes: FieldSet[] = [];

  add(from: number, field: FieldShape, node: FieldSet): void {
    const { fields, nodes } = this;
    let at = this.top++;
    const base = at - from >= MOST_ENTRIES ? at : from;
    while (at > base && after(fields[at - 1] as FieldShape, field)) {
      fields[at] = fields[at - 1] as FieldShape;
      nodes[at] = nodes[at - 1] as FieldSet;
      at--;
    }
    fields[at] = field;
    nodes[at] = node;
  }
  /** Takes the nodes above `base`. */
  build(base: number, member: boolean): FieldSet | undefined {
    const { top } = this;
    if (top === base) return undefined;
    const { fields, nodes } = this;
    this.top = base;
    // Only objects without a schema have so many fields.
    if (top - base > MOST_ENTRIES) return this.setInOrder(inOrder(fields, base, top), member);
    let step = beginning(member);
    for (let i = base; i < top; i++) step = step.to((fields[i] as FieldShape).element, nodes[i] as FieldSet);
    return step.set ?? step.keep(this.setInOrder(range(base, top), member));
  }
  private setInOrder(order: readonly number[], member: boolean): FieldSet {
    const set: MutableFieldSet = member ? { '.': leaf } : {};
    for (const i of order) set[(this.fields[i] as FieldShape).element] = this.nodes[i] as FieldSet;
    return set;
  }
}
function inOrder(fields: readonly FieldShape[], base: number, top: number): number[] {
  return range(base, top).sort((a, b) => (after(fields[a] as FieldShape, fields[b] as FieldShape) ? 1 : -1));
}
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

function after(a: FieldShape, b: FieldShape): boolean {
  return a.rank === UNRANKED || b.rank === UNRANKED ? a.element > b.element : a.rank > b.rank;
}

/** Nodes of map keys or list items. */
export class Items {
  private readonly elements: string[] = [];
  private readonly nodes: FieldSet[] = [];
  /** The nodes by their elements, once one came out of order: elements in order cannot be repeated. */
  private byElement: Map<string, FieldSet> | undefined;

  add(element: string, node: FieldSet): void {
    const { elements, nodes } = this;
    const { length } = elements;
    if (this.byElement === undefined && length > 0 && !this.isNext(element))
      this.byElement = new Map(elements.map((earlierElement, i) => [earlierElement, nodes[i] as FieldSet]));
    if (this.byElement !== undefined && this.byElement.set(element, node).size === length)
      throw new Untyped(`duplicate entries for key ${elementText(element)}`);
    elements.push(element);
    nodes.push(node);
  }
  /** Whether an element comes after the last one. Items of long lists are sorted at the end, since some comparisons are slow. */
  private isNext(element: string): boolean {
    const { elements } = this;
    const { length } = elements;
    if (length >= MOST_ENTRIES && !element.startsWith('f:')) return false;
    return compareElements(elements[length - 1] as string, element) < 0;
  }
  addKey(key: string, node: FieldSet): void {
    // Keys of wide maps are seldom met again: their elements are not worth keeping.
    this.add(this.elements.length < MOST_ENTRIES ? keyElement(key) : `f:${key}`, node);
  }
  /** May be called once. */
  build(member: boolean): FieldSet | undefined {
    const { length } = this.elements;
    if (length === 0) return undefined;
    if (this.byElement !== undefined) this.putInOrder(this.byElement);
    if (length > MOST_ENTRIES) return this.setOfItems(member);
    const { elements, nodes } = this;
    let step = beginning(member);
    for (let i = 0; i < length; i++) step = step.to(elements[i] as string, nodes[i] as FieldSet);
    return step.set ?? step.keep(this.setOfItems(member));
  }
  private putInOrder(byElement: ReadonlyMap<string, FieldSet>): void {
    const { elements, nodes } = this;
    sorted(elements);
    for (let i = 0; i < elements.length; i++) nodes[i] = byElement.get(elements[i] as string) as FieldSet;
  }
  private setOfItems(member: boolean): FieldSet {
    const { elements, nodes } = this;
    const set: MutableFieldSet = member ? { '.': leaf } : {};
    for (let i = 0; i < elements.length; i++) set[elements[i] as string] = nodes[i] as FieldSet;
    return set;
  }
}
