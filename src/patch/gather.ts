/** Sets of paths in the making: nodes that belong to one level, put in order. */
import { compareElements, elementText, type FieldSet, leaf, type MutableFieldSet, sorted } from './fieldset.ts';
import { beginning, MOST_ENTRIES } from './interned.ts';
import { anyShape, type FieldShape, type MessageShape, Untyped } from './shape.ts';

/** What the shape says of a field; of one that the schema does not name, what its value says. Undefined: it is not kept. */
export function fieldOf(shape: MessageShape, name: string): FieldShape | undefined {
  const known = shape.fields.get(name);
  if (known !== undefined || !shape.open) return known;
  return { name, element: `f:${name}`, rank: UNRANKED, always: false, zero: undefined, shape: anyShape };
}
const UNRANKED = -1;

/**
 * Nodes of fields on their way into order: each is put in its place at once, as messages have few fields. The fields of
 * a message are gathered above those of the messages around it, so that one pair of arrays serves a whole walk.
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
  /** Takes what was gathered above `base`. */
  build(base: number, member: boolean): FieldSet | undefined {
    const { top } = this;
    if (top === base) return undefined;
    const { fields, nodes } = this;
    this.top = base;
    // Only objects without a schema have so many fields.
    if (top - base > MOST_ENTRIES) return this.made(inOrder(fields, base, top), member);
    let step = beginning(member);
    for (let i = base; i < top; i++) step = step.to((fields[i] as FieldShape).element, nodes[i] as FieldSet);
    return step.set ?? step.keep(this.made(range(base, top), member));
  }
  private made(order: readonly number[], member: boolean): FieldSet {
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
  /** All elements, once one of them came out of order: in order each is another than the one before. */
  private seen: Set<string> | undefined;

  add(element: string, node: FieldSet): void {
    const { elements } = this;
    if (this.seen === undefined && elements.length > 0 && compareElements(elements[elements.length - 1] as string, element) >= 0)
      this.seen = new Set(elements);
    if (this.seen?.has(element)) throw new Untyped(`duplicate entries for key ${elementText(element)}`);
    this.seen?.add(element);
    elements.push(element);
    this.nodes.push(node);
  }
  build(member: boolean): FieldSet | undefined {
    const { elements, nodes } = this;
    if (elements.length === 0) return undefined;
    const order =
      this.seen === undefined
        ? undefined
        : elements.length > MOST_ENTRIES
          ? this.sortedOrder()
          : range(0, elements.length).sort(this.inOrder);
    if (elements.length > MOST_ENTRIES) return this.made(order, member);
    let step = beginning(member);
    for (let i = 0; i < elements.length; i++) {
      const at = order === undefined ? i : (order[i] as number);
      step = step.to(elements[at] as string, nodes[at] as FieldSet);
    }
    return step.set ?? step.keep(this.made(order, member));
  }
  private made(order: readonly number[] | undefined, member: boolean): FieldSet {
    const { elements, nodes } = this;
    const set: MutableFieldSet = member ? { '.': leaf } : {};
    for (let i = 0; i < elements.length; i++) {
      const at = order === undefined ? i : (order[i] as number);
      set[elements[at] as string] = nodes[at] as FieldSet;
    }
    return set;
  }
  /** The same for many. */
  private sortedOrder(): number[] {
    const placeOf = new Map(this.elements.map((element, i) => [element, i]));
    return sorted([...this.elements]).map((element) => placeOf.get(element) as number);
  }
  private readonly inOrder = (a: number, b: number): number => compareElements(this.elements[a] as string, this.elements[b] as string);
}
