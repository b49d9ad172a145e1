/** What an expression is expected to cost at most, from what its types say about sizes. */
import type { Checked, CheckedCall, CheckedComprehension, CheckedLogic } from './checked-expressions.ts';
import { type Estimate, either, exactly, ONE, plus, type Range, range, type Sized, times, ZERO } from './estimates.ts';
import { ROUND_UNITS } from './plan-comprehension.ts';
import { LIST_UNITS, MAP_UNITS, OBJECT_UNITS } from './plan-parts.ts';
import type { CelType } from './types.ts';

/** Sizes to assume of what no type bounds. */
export interface AssumedSizes {
  readonly string: number;
  readonly bytes: number;
  readonly list: number;
  readonly map: number;
}
/** Most that fits into one request, whatever it is made of. */
const DEFAULT_SIZES: AssumedSizes = { string: 3_145_728, bytes: 3_145_728, list: 1_572_864, map: 786_432 };

/** Units of a macro that builds a list or a map, or counts, in addition to its iterations. */
const START_UNITS: Partial<Record<CheckedComprehension['macro'], number>> = {
  existsOne: 2,
  map: LIST_UNITS + 1,
  filter: LIST_UNITS + 1,
  transformMap: MAP_UNITS + 1,
  transformMapEntry: MAP_UNITS + 1,
};

/** A round of a macro, as a stock server expands it: conditions, and what becomes of an item. */
function roundCost(macro: CheckedComprehension['macro'], body: Range, filter: Range | undefined): Range {
  switch (macro) {
    case 'all':
    case 'exists':
      return plus(body, exactly(ROUND_UNITS[macro]));
    case 'existsOne':
      return plus(body, range(1, 2));
    case 'filter':
      return plus(body, range(1, LIST_UNITS + 3));
  }
  const made = plus(body, exactly(macro === 'map' ? LIST_UNITS + 2 : macro === 'transformMap' ? 3 : 2));
  return filter === undefined ? made : plus(filter, either(made, ONE));
}

/** A part with what it costs and how large its value may be. */
interface Part extends Sized {
  readonly cost: Range;
}

/** `stock`: sizes that a stock server does not know are not known. */
export function estimateCost(root: Checked, stock: boolean, sizes: Partial<AssumedSizes> = {}): Range {
  return new Estimation({ ...DEFAULT_SIZES, ...sizes }, stock).visit(root).cost;
}

const ANY_SIZE = range(0, Number.POSITIVE_INFINITY);

class Estimation {
  private readonly sizes: AssumedSizes;
  private readonly stock: boolean;
  private readonly locals: Sized[] = [];

  constructor(sizes: AssumedSizes, stock: boolean) {
    this.sizes = sizes;
    this.stock = stock;
  }

  visit(checked: Checked): Part {
    switch (checked.op) {
      case 'constant':
        return { cost: ZERO, size: exactly(constantSize(checked.value)) };
      case 'variable':
        return { cost: ONE, ...this.sized(checked.type), isDeclared: true };
      case 'local':
        return { cost: ONE, ...(this.locals[checked.slot] ?? this.sized(checked.type)) };
      case 'field':
      case 'optionalField':
        return { cost: plus(this.visit(checked.operand).cost, ONE), ...this.sized(checked.type), isDeclared: true };
      case 'has':
        return { cost: this.visit(checked.operand).cost, size: ONE };
      case 'call':
        return this.call(checked);
      case 'logic':
        return { cost: this.logic(checked), size: ONE };
      case 'conditional': {
        const [test, yes, no] = [checked.condition, checked.then, checked.otherwise].map((part) => this.visit(part)) as [Part, Part, Part];
        const item = yes.item === undefined || no.item === undefined ? undefined : either(yes.item, no.item);
        return { cost: plus(test.cost, either(yes.cost, no.cost)), size: either(yes.size, no.size), ...(item && { item }) };
      }
      case 'list':
        return this.container(
          LIST_UNITS,
          checked.items.map(({ value }) => this.visit(value)),
          [],
        );
      case 'map':
        return this.container(
          MAP_UNITS,
          checked.entries.map(({ value }) => this.visit(value)),
          checked.entries.map(({ key }) => this.visit(key)),
        );
      case 'object':
        return this.container(
          OBJECT_UNITS,
          checked.fields.map(({ value }) => this.visit(value)),
          [],
        );
      case 'comprehension':
        return this.comprehension(checked);
      case 'bind': {
        const value = this.visit(checked.value);
        this.locals[checked.slot] =
          checked.macro === 'bind' ? value : this.sized(checked.type.kind === 'optional' ? checked.type.of : checked.type);
        const body = this.visit(checked.body);
        return { ...body, cost: plus(plus(value.cost, body.cost), ONE) };
      }
    }
  }

  private container(units: number, items: readonly Part[], keys: readonly Part[]): Part {
    const cost = [...items, ...keys].reduce((sum, part) => plus(sum, part.cost), exactly(units));
    const [first, ...rest] = items.map(({ size }) => size);
    const item = first === undefined ? ZERO : rest.reduce(either, first);
    return { cost, size: exactly(items.length), item };
  }

  private logic({ terms }: CheckedLogic): Range {
    const costs = terms.map((term) => this.visit(term).cost);
    // The first term may decide.
    return range(
      costs[0]?.min ?? 0,
      costs.reduce((sum, { max }) => sum + max, 0),
    );
  }

  private call({ overloads, args, type }: CheckedCall): Part {
    const parts = args.map((arg) => ({
      ...this.visit(arg),
      ...{ type: arg.type, stock: this.stock },
      ...(arg.op === 'constant' && { literal: arg.value }),
    }));
    const argsCost = parts.reduce((sum, { cost }) => plus(sum, cost), ZERO);
    let all: Estimate | undefined;
    for (const { price } of overloads) {
      const own: Estimate = price?.estimate(parts) ?? { cost: ONE };
      all = all === undefined ? own : widest(all, own);
    }
    const { cost = ONE, size, item } = all?.sizeUnknown && this.stock ? { cost: all.cost } : (all ?? {});
    const declared = this.stock ? this.unbounded(type) : this.sized(type);
    const resultSize: Sized = { size: size ?? declared.size, ...((item ?? declared.item) && { item: (item ?? declared.item) as Range }) };
    // A stock server lets what reads nothing be free.
    const own = this.stock ? cost : range(Math.max(1, cost.min), Math.max(1, cost.max));
    return { cost: plus(argsCost, own), ...resultSize };
  }
  /** The size of what a function makes, of which no declaration speaks. */
  private unbounded(type: CelType): Sized {
    switch (type.kind) {
      case 'optional':
        return this.unbounded(type.of);
      case 'list':
      case 'map':
        return { size: ANY_SIZE, item: this.unbounded(type.of).size };
      case 'bool':
      case 'int':
      case 'uint':
      case 'double':
      case 'timestamp':
      case 'duration':
        return { size: ONE };
      default:
        return { size: ANY_SIZE };
    }
  }

  private comprehension(checked: CheckedComprehension): Part {
    const { macro, slot, secondSlot } = checked;
    const over = this.visit(checked.range);
    const isDeclared = over.isDeclared === true;
    const item: Sized = { ...this.sized(checked.variable), ...(over.item !== undefined && { size: over.item }), isDeclared };
    this.locals[slot] = secondSlot === undefined && checked.range.type.kind !== 'map' ? item : this.sized(checked.variable);
    if (secondSlot !== undefined)
      this.locals[secondSlot] = { ...this.sized(checked.second), ...(over.item !== undefined && { size: over.item }), isDeclared };
    const body = this.visit(checked.body);
    const filter = checked.filter && this.visit(checked.filter).cost;
    const cost = plus(plus(over.cost, exactly(START_UNITS[macro] ?? 1)), times(over.size, roundCost(macro, body.cost, filter)));
    if (macro === 'filter') return { cost, size: over.size, ...(over.item && { item: over.item }) };
    if (macro === 'map' || macro.startsWith('transform')) return { cost, size: over.size, item: body.size };
    return { cost, size: ONE };
  }

  // ---- sizes ---------------------------------------------------------------------------------------------------------

  private sized(type: CelType): Sized {
    switch (type.kind) {
      case 'list':
        return { size: range(0, type.maxSize ?? this.sizes.list), item: this.total(type.of) };
      case 'map':
        return { size: range(0, type.maxSize ?? this.sizes.map), item: this.total(type.of) };
      case 'optional':
        return this.sized(type.of);
      default:
        return { size: this.total(type) };
    }
  }
  /** How much there is to read in a value, with all that it holds. */
  private total(type: CelType): Range {
    switch (type.kind) {
      case 'string':
      case 'bytes':
        return range(0, type.maxSize ?? this.sizes[type.kind]);
      case 'dyn':
        return range(0, type.maxSize ?? this.sizes.string);
      case 'list':
      case 'map':
        // What is counted is the items; those who look at these look at what they hold.
        return range(0, type.maxSize ?? this.sizes[type.kind]);
      case 'object':
        // Expressions compare objects at no cost that is known in advance; what they take is paid while they run.
        return ZERO;
      default:
        return ONE;
    }
  }
}

function widest(a: Estimate, b: Estimate): Estimate {
  const size = a.size === undefined || b.size === undefined ? undefined : either(a.size, b.size);
  const item = a.item === undefined || b.item === undefined ? undefined : either(a.item, b.item);
  const sizeUnknown = a.sizeUnknown === true || b.sizeUnknown === true;
  return { cost: either(a.cost, b.cost), ...(size && { size }), ...(item && { item }), ...(sizeUnknown && { sizeUnknown }) };
}
function constantSize(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 1;
}
