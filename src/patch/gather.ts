/** Sets of paths in the making: nodes that belong to one level, put in order. */
import { compareElements, elementText, type FieldSet, leaf, type MutableFieldSet } from './fieldset.ts';
import { anyShape, type FieldShape, type MessageShape, Untyped } from './shape.ts';

/** What the shape says of a field; of one that the schema does not name, what its value says. Undefined: it is not kept. */
export function fieldOf(shape: MessageShape, name: string): FieldShape | undefined {
  const known = shape.fields.get(name);
  if (known !== undefined || !shape.open) return known;
  return { name, element: `f:${name}`, rank: UNRANKED, always: false, zero: undefined, shape: anyShape };
}
const UNRANKED = -1;

/** More fields than this are sorted at the end: only objects without a schema have so many. */
const MANY = 64;

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
    const base = at - from >= MANY ? at : from;
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
    const set: MutableFieldSet = member ? { '.': leaf } : {};
    if (top - base <= MANY) for (let i = base; i < top; i++) set[(fields[i] as FieldShape).element] = nodes[i] as FieldSet;
    else {
      const order = Array.from({ length: top - base }, (_, i) => base + i);
      order.sort((a, b) => (after(fields[a] as FieldShape, fields[b] as FieldShape) ? 1 : -1));
      for (const i of order) set[(fields[i] as FieldShape).element] = nodes[i] as FieldSet;
    }
    this.top = base;
    return set;
  }
}
function after(a: FieldShape, b: FieldShape): boolean {
  return a.rank === UNRANKED || b.rank === UNRANKED ? a.element > b.element : a.rank > b.rank;
}

/** Nodes of map keys or list items. */
export class Items {
  private readonly elements: string[] = [];
  private set: MutableFieldSet | undefined;
  private sorted = true;

  add(element: string, node: FieldSet): void {
    const { elements } = this;
    this.set ??= {};
    if (this.set[element] !== undefined) throw new Untyped(`duplicate entries for key ${elementText(element)}`);
    if (elements.length > 0 && compareElements(elements[elements.length - 1] as string, element) > 0) this.sorted = false;
    elements.push(element);
    this.set[element] = node;
  }
  build(member: boolean): FieldSet | undefined {
    const { set } = this;
    if (set === undefined) return undefined;
    if (this.sorted && !member) return set;
    if (!this.sorted) this.elements.sort(compareElements);
    const result: MutableFieldSet = member ? { '.': leaf } : {};
    for (const element of this.elements) result[element] = set[element] as FieldSet;
    return result;
  }
}
