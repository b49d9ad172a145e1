/** Checked expressions to functions. Nothing is decided while they run that is known before. */
import type { Meter } from '../pattern/match.ts';
import { FAILURE_UNITS, type Frame } from './budget.ts';
import type {
  Checked,
  CheckedBind,
  CheckedCall,
  CheckedConditional,
  CheckedField,
  CheckedItem,
  CheckedList,
  CheckedLogic,
  CheckedMap,
} from './checked.ts';
import { equal, equalOfType, hasListTypes, joinTypedLists } from './equal.ts';
import { Failure, fail, noOverload } from './errors.ts';
import { compilePattern, idle } from './functions/regex.ts';
import type { Overload } from './functions/signature.ts';
import { planComprehension } from './plan-comprehension.ts';
import { propertyReader, readerOf } from './read.ts';
import type { CelType, ListType } from './types.ts';
import { boxDouble, CelMap, isOfType, NONE, Optional, unboxDouble } from './values.ts';

/** A part of a program. Throws Failure, CostExceeded. */
export type Eval = (frame: Frame) => unknown;
/** What a part of an expression becomes, for other files that plan. */
export type Planner = (checked: Checked) => Eval;

export function plan(root: Checked, meter: Meter): Eval {
  return new Plan(meter).visit(root);
}

/** Converts between doubles as they are and doubles in a place that may hold anything. */
export function adapted(eval_: Eval, from: CelType, to: CelType): Eval {
  if ((from.kind === 'double') === (to.kind === 'double')) return eval_;
  if (from.kind === 'double') return (frame) => boxDouble(eval_(frame) as number);
  return (frame) => unboxDouble(eval_(frame));
}
const ANY: CelType = { kind: 'dyn' };

type Call = (frame: Frame, ...args: unknown[]) => unknown;

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
        return (frame) => frame.locals[slot];
      }
      case 'field':
      case 'has':
      case 'optionalField':
        return this.field(checked);
      case 'call':
        return this.call(checked);
      case 'logic':
        return this.logic(checked);
      case 'conditional':
        return this.conditional(checked);
      case 'list':
        return this.list(checked);
      case 'map':
        return this.map(checked);
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
    const of = this.visit(operand);
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
        const value = look(of(frame));
        return value === undefined ? fail(`no such key: ${property}`) : read(frame, value);
      };
    }
    const unbox = checked.type.kind === 'double';
    return (frame) => {
      frame.spend(1);
      const value = look(of(frame));
      if (value === undefined) fail(`no such key: ${property}`);
      return unbox ? unboxDouble(value) : value;
    };
  }

  // ---- calls ---------------------------------------------------------------------------------------------------------

  private call(checked: CheckedCall): Eval {
    const { name, overloads, args, type } = checked;
    if (name === '_==_' || name === '_!=_') return this.equality(checked, name === '_!=_');
    if (name === 'orValue' || name === 'or') return this.otherwise(checked);
    const [first] = overloads;
    const [left] = args;
    if (name === '_+_' && left?.type.kind === 'list' && (left.type.listType === 'set' || left.type.listType === 'map'))
      return this.joinTyped(checked, left.type);
    if (overloads.length > 1 || first === undefined) return this.dispatch(checked);
    const evals = args.map((arg, i) => this.argument(name, i, arg, first.params[i] as CelType));
    const types = args.map((arg, i) => (needsCheck(first.params[i] as CelType, arg.type) ? (first.params[i] as CelType) : undefined));
    const eval_ = planCall(first.call as Call, evals, types);
    return first.result.kind !== 'double' && type.kind === 'double' ? adapted(eval_, ANY, type) : eval_;
  }
  private argument(name: string, index: number, arg: Checked, param: CelType): Eval {
    if (index === 1 && /^(?:matches|find|findAll)$/.test(name) && arg.op === 'constant' && typeof arg.value === 'string') {
      const matcher = compilePattern(arg.value, this.meter);
      matcher.meter = idle;
      return () => matcher;
    }
    return adapted(this.visit(arg), arg.type, param.kind === 'double' ? param : ANY);
  }

  private equality({ args }: CheckedCall, negated: boolean): Eval {
    const [a, b] = args as [Checked, Checked];
    const left = this.visit(a);
    const right = this.visit(b);
    const kinds = `${a.type.kind} ${b.type.kind}`;
    if (/^(?:int|double) (?:int|double)$/.test(kinds) && !(a.type.nullable || b.type.nullable)) {
      return (frame) => {
        frame.spend(1);
        // biome-ignore lint/suspicious/noDoubleEquals: an int is a number or a bigint
        return ((left(frame) as number) == (right(frame) as number)) !== negated;
      };
    }
    const typed = [a.type, b.type].find((type) => hasListTypes(type));
    const anyLeft = adapted(left, a.type, ANY);
    const anyRight = adapted(right, b.type, ANY);
    if (typed !== undefined) {
      return (frame) => {
        frame.spend(1);
        return equalOfType(frame, typed, anyLeft(frame), anyRight(frame)) !== negated;
      };
    }
    return (frame) => {
      frame.spend(1);
      return equal(frame, anyLeft(frame), anyRight(frame)) !== negated;
    };
  }

  private joinTyped({ args }: CheckedCall, type: ListType): Eval {
    const [left, right] = args.map((arg) => this.visit(arg)) as [Eval, Eval];
    return (frame) => {
      frame.spend(1);
      const a = left(frame);
      const b = right(frame);
      return Array.isArray(a) && Array.isArray(b) ? joinTypedLists(frame, type, a, b) : noOverload();
    };
  }

  private otherwise({ name, args, type }: CheckedCall): Eval {
    const [maybe, other] = args.map((arg) => this.anything(arg)) as [Eval, Eval];
    const eval_: Eval = (frame) => {
      frame.spend(1);
      const value = maybe(frame);
      if (!(value instanceof Optional)) return noOverload();
      if (!value.present) return other(frame);
      return name === 'or' ? value : value.value;
    };
    return adapted(eval_, ANY, type);
  }

  /** A call whose function is known when its arguments are. */
  private dispatch({ overloads, args, type }: CheckedCall): Eval {
    const evals = args.map((arg) => this.anything(arg));
    // The one that was called before is most often the one.
    let found = overloads[0] as Overload;
    const eval_: Eval = (frame) => {
      frame.spend(DISPATCH_UNITS);
      const values = new Array<unknown>(evals.length);
      for (let i = 0; i < evals.length; i++) values[i] = (evals[i] as Eval)(frame);
      if (!accepts(found, values)) found = overloads.find((one) => accepts(one, values)) ?? noOverload();
      const { params, call, result } = found;
      for (let i = 0; i < values.length; i++) if ((params[i] as CelType).kind === 'double') values[i] = unboxDouble(values[i]);
      const value = values.length === 2 ? (call as Call)(frame, values[0], values[1]) : (call as Call)(frame, ...values);
      return result.kind === 'double' ? boxDouble(value as number) : value;
    };
    return adapted(eval_, ANY, type);
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
    const yes = adapted(this.visit(then), then.type, type);
    const no = adapted(this.visit(otherwise), otherwise.type, type);
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
  private list({ items }: CheckedList): Eval {
    const planned = items.map((item) => this.item(item));
    // The same list every time, which nothing changes.
    if (items.every(({ value, optional }) => value.op === 'constant' && !optional)) {
      const fixed = items.map(({ value }) => {
        const { value: constant, type } = value as Checked & { op: 'constant' };
        return type.kind === 'double' ? boxDouble(constant as number) : constant;
      });
      return (frame) => {
        frame.spend(LIST_UNITS);
        return fixed;
      };
    }
    return (frame) => {
      frame.spend(LIST_UNITS + planned.length);
      const made: unknown[] = [];
      for (const { eval_, optional } of planned) {
        const value = optional ? present(eval_(frame)) : eval_(frame);
        if (value !== undefined) made.push(value);
      }
      return made;
    };
  }
  private map({ entries }: CheckedMap): Eval {
    const planned = entries.map((entry) => ({ key: this.anything(entry.key), ...this.item(entry) }));
    return (frame) => {
      frame.spend(MAP_UNITS + ENTRY_UNITS * planned.length);
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
      const maybe = of(frame);
      if (!(maybe instanceof Optional)) return noOverload();
      if (!maybe.present) return NONE;
      frame.locals[slot] = unbox ? unboxDouble(maybe.value) : maybe.value;
      const made = result(frame);
      return macro === 'optMap' ? new Optional(made) : made;
    };
  }
}
/** Units of making a list and a map, as clients know them. */
export const LIST_UNITS = 10;
export const MAP_UNITS = 30;
/** Units of a call whose function is chosen by its arguments. */
const DISPATCH_UNITS = 20;
/** Units of an entry: its key is looked up and put in. */
const ENTRY_UNITS = 10;

export const isKey = (key: unknown): boolean => isOfType(key, { kind: 'string' }) || /^(?:int|uint|bool)$/.test(kindOf(key));
function kindOf(key: unknown): string {
  for (const kind of ['int', 'uint', 'bool'] as const) if (isOfType(key, { kind })) return kind;
  return '';
}
function accepts({ params }: Overload, values: readonly unknown[]): boolean {
  for (let i = 0; i < params.length; i++) if (!isOfType(values[i], params[i] as CelType)) return false;
  return true;
}
/** The value of an optional one; undefined where there is none. */
const present = (value: unknown): unknown => (value instanceof Optional ? value.value : noOverload());

function planVariable(name: string, type: CelType): Eval {
  const read = readerOf(type);
  const unbox = type.kind === 'double';
  return (frame) => {
    const value = frame.values[name];
    if (value === undefined) fail(`no such attribute(s): ${name}`);
    if (read !== undefined) return read(frame, value);
    return unbox ? unboxDouble(value) : value;
  };
}

function planOptionalField(of: Eval, look: (value: unknown) => unknown): Eval {
  return (frame) => {
    frame.spend(1);
    let value = of(frame);
    if (value instanceof Optional) {
      if (!value.present) return NONE;
      value = value.value;
    }
    const found = look(value);
    return found === undefined ? NONE : new Optional(found);
  };
}

/** Whether an argument can be of another type than the static one says: a value that is known at run time only, or one within a container. */
const needsCheck = (param: CelType, arg: CelType): boolean =>
  arg.kind !== param.kind && param.kind !== 'parameter' && param.kind !== 'dyn' && param.kind !== 'double';

/** By the number of arguments. `types` are those that values must be checked for. */
function planCall(call: Call, evals: readonly Eval[], types: readonly (CelType | undefined)[]): Eval {
  const [a, b] = evals;
  if (types.some((type) => type !== undefined)) {
    return (frame) => {
      frame.spend(1);
      const values = evals.map((arg) => arg(frame));
      for (let i = 0; i < types.length; i++) {
        const type = types[i];
        if (type !== undefined && !isOfType(values[i], type)) noOverload();
      }
      return call(frame, ...values);
    };
  }
  if (evals.length === 1 && a !== undefined) {
    return (frame) => {
      frame.spend(1);
      return call(frame, a(frame));
    };
  }
  if (evals.length === 2 && a !== undefined && b !== undefined) {
    return (frame) => {
      frame.spend(1);
      return call(frame, a(frame), b(frame));
    };
  }
  return (frame) => {
    frame.spend(1);
    return call(frame, ...evals.map((arg) => arg(frame)));
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
/** What may be made up for; all else goes on. */
export function absorb(frame: Frame, error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  frame.spend(FAILURE_UNITS);
  return error;
}
