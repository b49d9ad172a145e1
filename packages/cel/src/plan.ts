/** Compiles checked expressions to closures. What the types decide is not decided again at run time. */

import { own } from '@plat-dev/lib/own';
import type {
  Checked,
  CheckedBind,
  CheckedConditional,
  CheckedField,
  CheckedItem,
  CheckedList,
  CheckedLogic,
  CheckedMap,
  CheckedObject,
} from './checked-expressions.ts';
import { Failure, fail, noOverload } from './errors.ts';
import type { Meter } from './pattern/match.ts';
import { planCall } from './plan-calls.ts';
import { planComprehension } from './plan-comprehension.ts';
import {
  ANY,
  absorb,
  adapted,
  type Eval,
  isAttribute,
  isConstantList,
  isFolded,
  isKey,
  LIST_UNITS,
  MAP_UNITS,
  OBJECT_UNITS,
  withoutName,
} from './plan-parts.ts';
import { propertyReader, readerOf } from './read.ts';
import type { CelType } from './types.ts';
import { boxDouble, CelMap, ConstructedObject, NONE, Optional, unboxDouble } from './values.ts';

export function plan(root: Checked, meter: Meter): Eval {
  return new Plan(meter).visit(root);
}

class Plan {
  private readonly meter: Meter;

  constructor(meter: Meter) {
    this.meter = meter;
  }

  visit(checked: Checked): Eval {
    switch (checked.op) {
      case 'constant': {
        const { value } = checked;
        return () => value;
      }
      case 'variable':
        return planVariable(checked.name, checked.type);
      case 'local': {
        const { slot } = checked;
        return (frame) => {
          frame.charge(1);
          return frame.locals[slot];
        };
      }
      case 'field':
      case 'has':
      case 'optionalField':
        return this.field(checked);
      case 'call':
        return planCall(checked, (part) => this.visit(part), this.meter);
      case 'logic':
        return this.logic(checked);
      case 'conditional':
        return this.conditional(checked);
      case 'list':
        return this.list(checked);
      case 'map':
        return this.map(checked);
      case 'object':
        return this.object(checked);
      case 'comprehension':
        return planComprehension(checked, (part) => this.visit(part));
      case 'bind':
        return this.bind(checked);
    }
  }
  /** A part whose value goes where anything may stand. */
  private anything(checked: Checked): Eval {
    return adapted(this.visit(checked), checked.type, ANY);
  }

  // ---- fields --------------------------------------------------------------------------------------------------------

  private field(checked: CheckedField): Eval {
    const { operand, property, op } = checked;
    const inner = operand.type.kind === 'optional' ? operand.type.of : operand.type;
    const look = propertyReader(property, inner);
    const selected = this.visit(operand);
    // What is not a name is one more thing to select from.
    const of: Eval = isAttribute(operand)
      ? selected
      : (frame) => {
          frame.charge(1);
          return selected(frame);
        };
    if (op === 'has') {
      return (frame) => {
        frame.spend(1);
        const value = of(frame);
        if (!(value instanceof Optional)) return look(value) !== undefined;
        return value.present && look(value.value) !== undefined;
      };
    }
    if (op === 'optionalField') return planOptionalField(of, look);
    const read = readerOf(checked.type);
    if (read !== undefined) {
      return (frame) => {
        frame.spend(1);
        frame.charge(1);
        const value = look(of(frame));
        return value === undefined ? fail(`no such key: ${property}`) : read(frame, value);
      };
    }
    const unbox = checked.type.kind === 'double';
    return (frame) => {
      frame.spend(1);
      frame.charge(1);
      const value = look(of(frame));
      if (value === undefined) fail(`no such key: ${property}`);
      return unbox ? unboxDouble(value) : value;
    };
  }

  // ---- conditions ----------------------------------------------------------------------------------------------------

  private logic({ operator, terms }: CheckedLogic): Eval {
    return planLogic(
      terms.map((term) => this.visit(term)),
      operator === '||',
    );
  }
  private conditional({ condition, then, otherwise, type }: CheckedConditional): Eval {
    const test = this.visit(condition);
    const yes = withoutName(adapted(this.visit(then), then.type, type), then);
    const no = withoutName(adapted(this.visit(otherwise), otherwise.type, type), otherwise);
    return (frame) => {
      frame.spend(1);
      const value = test(frame);
      return value === true ? yes(frame) : value === false ? no(frame) : noOverload();
    };
  }

  // ---- lists and maps ------------------------------------------------------------------------------------------------

  private item({ value, optional }: CheckedItem): { readonly eval_: Eval; readonly optional: boolean } {
    return { eval_: this.anything(value), optional };
  }
  private list(checked: CheckedList): Eval {
    const { items } = checked;
    const planned = items.map((item) => this.item(item));
    // The same list every time, which nothing changes.
    if (isConstantList(checked)) {
      const fixed = items.map(({ value }) => {
        const { value: constant, type } = value as Checked & { op: 'constant' };
        return type.kind === 'double' ? boxDouble(constant as number) : constant;
      });
      return (frame) => {
        frame.spend(LIST_UNITS);
        return fixed;
      };
    }
    const units = isFolded(checked) ? 0 : LIST_UNITS;
    return (frame) => {
      frame.spend(LIST_UNITS + planned.length);
      frame.charge(units);
      const items: unknown[] = [];
      for (const { eval_, optional } of planned) {
        const value = optional ? present(eval_(frame)) : eval_(frame);
        if (value !== undefined) items.push(value);
      }
      return items;
    };
  }
  private map(checked: CheckedMap): Eval {
    const { entries } = checked;
    const planned = entries.map((entry) => ({ key: this.anything(entry.key), ...this.item(entry) }));
    const units = isFolded(checked) ? 0 : MAP_UNITS;
    return (frame) => {
      frame.spend(MAP_UNITS + ENTRY_UNITS * planned.length);
      frame.charge(units);
      const map = new CelMap();
      for (const { key, eval_, optional } of planned) {
        const at = key(frame);
        if (!isKey(at)) fail('unsupported key type');
        if (map.has(at)) fail('Failed with repeated key');
        const value = optional ? present(eval_(frame)) : eval_(frame);
        if (value !== undefined) map.set(at, value);
      }
      return map;
    };
  }

  private object({ type, fields }: CheckedObject): Eval {
    const planned = fields.map((field) => ({ name: field.name, ...this.item(field) }));
    return (frame) => {
      frame.spend(OBJECT_UNITS + ENTRY_UNITS * planned.length);
      frame.charge(OBJECT_UNITS);
      const values = new Map<string, unknown>();
      for (const { name, eval_, optional } of planned) {
        const value = optional ? present(eval_(frame)) : eval_(frame);
        if (value !== undefined) values.set(name, value);
      }
      return new ConstructedObject(type.name, values);
    };
  }

  private bind({ macro, slot, value, body }: CheckedBind): Eval {
    const of = this.visit(value);
    const inner = this.visit(body);
    if (macro === 'bind') {
      return (frame) => {
        frame.spend(1);
        frame.locals[slot] = of(frame);
        return inner(frame);
      };
    }
    // What an optional value holds may stand where anything does.
    const innerType = value.type.kind === 'optional' ? value.type.of : ANY;
    const unbox = innerType.kind === 'double';
    const result = macro === 'optMap' ? adapted(inner, body.type, ANY) : inner;
    return (frame) => {
      frame.spend(1);
      // A stock server asks whether there is a value, and evaluates the operand again to take it.
      const costBefore = frame.cost;
      const maybe = of(frame);
      const operandCost = frame.cost - costBefore;
      frame.charge(macro === 'optMap' ? 2 : 1);
      if (!(maybe instanceof Optional)) return noOverload();
      if (!maybe.present) return NONE;
      frame.charge(1 + operandCost);
      frame.locals[slot] = unbox ? unboxDouble(maybe.value) : maybe.value;
      const value = result(frame);
      return macro === 'optMap' ? new Optional(value) : value;
    };
  }
}
/** Units of an entry: its key is looked up and put in. */
const ENTRY_UNITS = 20;

/** The value of an optional one; undefined where there is none. */
const present = (value: unknown): unknown => (value instanceof Optional ? value.value : noOverload());

function planVariable(name: string, type: CelType): Eval {
  const read = readerOf(type);
  const unbox = type.kind === 'double';
  return (frame) => {
    frame.charge(1);
    const value = own(frame.values, name);
    if (value === undefined) fail(`no such attribute(s): ${name}`);
    if (read !== undefined) return read(frame, value);
    return unbox ? unboxDouble(value) : value;
  };
}

function planOptionalField(of: Eval, look: (value: unknown) => unknown): Eval {
  return (frame) => {
    frame.spend(1);
    frame.charge(1);
    let value = of(frame);
    if (value instanceof Optional) {
      if (!value.present) return NONE;
      value = value.value;
    }
    const field = look(value);
    return field === undefined ? NONE : new Optional(field);
  };
}

/** `&&` and `||`: one term that decides makes up for others that fail. */
function planLogic(terms: readonly Eval[], decides: boolean): Eval {
  return (frame) => {
    let failure: Failure | undefined;
    for (const term of terms) {
      frame.spend(1);
      try {
        const value = term(frame);
        if (value === decides) return decides;
        if (value !== !decides) failure ??= new Failure('no such overload');
      } catch (error) {
        failure ??= absorb(frame, error);
      }
    }
    if (failure !== undefined) throw failure;
    return !decides;
  };
}
