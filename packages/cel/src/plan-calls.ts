/** Calls of functions and operators. */

import type { Frame } from './budget.ts';
import type { Checked, CheckedCall } from './checked-expressions.ts';
import { equal, equalOfType, hasListTypes, joinTypedLists } from './equal.ts';
import { noOverload } from './errors.ts';
import { compilePattern, idle } from './functions/regex.ts';
import type { Overload } from './functions/signature.ts';
import type { Meter } from './pattern/match.ts';
import { ANY, adapted, type Eval, isAttribute, isFolded, type Planner, withoutName } from './plan-parts.ts';
import { compares } from './prices.ts';
import type { CelType, ListType } from './types.ts';
import { boxDouble, isOfType, Optional, unboxDouble } from './values.ts';

const isIndex = (name: string): boolean => name === '_[_]' || name === '_[?_]';

type Call = (frame: Frame, ...args: unknown[]) => unknown;

export function planCall(checked: CheckedCall, planned: Planner, meter: Meter): Eval {
  return new CallPlan(planned, meter).call(checked);
}

class CallPlan {
  private readonly planned: Planner;
  private readonly meter: Meter;

  constructor(planned: Planner, meter: Meter) {
    this.planned = planned;
    this.meter = meter;
  }
  /** An argument whose value goes where anything may stand. */
  private anything(checked: Checked): Eval {
    return adapted(this.planned(checked), checked.type, ANY);
  }

  call(checked: CheckedCall): Eval {
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
    const { call, units } = chargedCall(first, unitsOf(checked), args);
    const eval_ = direct(call, units, evals, types);
    return first.result.kind !== 'double' && type.kind === 'double' ? adapted(eval_, ANY, type) : eval_;
  }
  private argument(name: string, index: number, arg: Checked, param: CelType): Eval {
    if (index === 1 && /^(?:matches|find|findAll)$/.test(name) && arg.op === 'constant' && typeof arg.value === 'string') {
      const matcher = compilePattern(arg.value, this.meter);
      matcher.meter = idle;
      return () => matcher;
    }
    const eval_ = adapted(this.planned(arg), arg.type, param.kind === 'double' ? param : ANY);
    return index === 1 && isIndex(name) ? withoutName(eval_, arg) : eval_;
  }

  private equality({ args }: CheckedCall, negated: boolean): Eval {
    const [a, b] = args as [Checked, Checked];
    const left = this.planned(a);
    const right = this.planned(b);
    const kinds = `${a.type.kind} ${b.type.kind}`;
    if (/^(?:int|double) (?:int|double)$/.test(kinds) && !(a.type.nullable || b.type.nullable)) {
      return (frame) => {
        frame.spend(1);
        frame.charge(1);
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
        const [a, b] = [anyLeft(frame), anyRight(frame)];
        frame.charge(costOfComparing(a, b));
        return equalOfType(frame, typed, a, b) !== negated;
      };
    }
    return (frame) => {
      frame.spend(1);
      const a = anyLeft(frame);
      const b = anyRight(frame);
      frame.charge(costOfComparing(a, b));
      return equal(frame, a, b) !== negated;
    };
  }

  private joinTyped({ args }: CheckedCall, type: ListType): Eval {
    const [left, right] = args.map((arg) => this.planned(arg)) as [Eval, Eval];
    return (frame) => {
      frame.spend(1);
      frame.charge(1);
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
  private dispatch(checked: CheckedCall): Eval {
    const { name, overloads, args, type } = checked;
    const evals = args.map((arg, i) => (i === 1 && isIndex(name) ? withoutName(this.anything(arg), arg) : this.anything(arg)));
    const units = unitsOf(checked);
    // The one that was called before is most often the one.
    let lastOverload = overloads[0] as Overload;
    const eval_: Eval = (frame) => {
      frame.spend(DISPATCH_UNITS);
      const values = new Array<unknown>(evals.length);
      for (let i = 0; i < evals.length; i++) values[i] = (evals[i] as Eval)(frame);
      if (!accepts(lastOverload, values)) lastOverload = overloads.find((one) => accepts(one, values)) ?? noOverload();
      const { params, call, result, price } = lastOverload;
      for (let i = 0; i < values.length; i++) if ((params[i] as CelType).kind === 'double') values[i] = unboxDouble(values[i]);
      const value = values.length === 2 ? (call as Call)(frame, values[0], values[1]) : (call as Call)(frame, ...values);
      const cost = units ?? price?.cost ?? 1;
      frame.charge(typeof cost === 'number' ? cost : cost(values, value));
      return result.kind === 'double' ? boxDouble(value as number) : value;
    };
    return adapted(eval_, ANY, type);
  }
}

/** Units of a call whose function is chosen by its arguments. */
const DISPATCH_UNITS = 50;
function accepts({ params }: Overload, values: readonly unknown[]): boolean {
  for (let i = 0; i < params.length; i++) if (!isOfType(values[i], params[i] as CelType)) return false;
  return true;
}

/** Whether an argument can be of another type than the static one says: a value that is known at run time only, or one within a container. */
const needsCheck = (param: CelType, arg: CelType): boolean =>
  arg.kind !== param.kind && param.kind !== 'parameter' && param.kind !== 'dyn' && param.kind !== 'double';

/** Units of a call that a stock server counts in a way of its own. */
function unitsOf(checked: CheckedCall): number | undefined {
  const { name, args } = checked;
  if (isFolded(checked) || (name === '@in' && isFolded(args[1] as Checked))) return 0;
  // What is not a name is one more thing to select from.
  return isIndex(name) ? (isAttribute(args[0] as Checked) ? 1 : 2) : undefined;
}
/** The function with what it costs, as a stock server counts: `units` are charged before, the rest once the values are known. */
function chargedCall(overload: Overload, units: number | undefined, args: readonly Checked[]): { call: Call; units: number } {
  const call = overload.call as Call;
  const cost = units ?? overload.price?.cost ?? 1;
  if (typeof cost === 'number') return { call, units: cost };
  // A pattern that the source spells out is not passed as its text.
  const literals = args.map((arg) => (arg.op === 'constant' ? arg.value : undefined));
  return {
    call: (frame, ...values) => {
      const result = call(frame, ...values);
      frame.charge(
        cost(
          values.map((value, i) => literals[i] ?? value),
          result,
        ),
      );
      return result;
    },
    units: 0,
  };
}
const comparing = compares.cost as (args: readonly unknown[], result: unknown) => number;
const costOfComparing = (a: unknown, b: unknown): number => comparing([a, b], undefined);

/** By the number of arguments. `units` is what the call costs; `types` are those that values must be checked for. */
function direct(call: Call, units: number, evals: readonly Eval[], types: readonly (CelType | undefined)[]): Eval {
  const [a, b] = evals;
  if (types.some((type) => type !== undefined)) {
    return (frame) => {
      frame.spend(1);
      frame.charge(units);
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
      frame.charge(units);
      return call(frame, a(frame));
    };
  }
  if (evals.length === 2 && a !== undefined && b !== undefined) {
    return (frame) => {
      frame.spend(1);
      frame.charge(units);
      return call(frame, a(frame), b(frame));
    };
  }
  return (frame) => {
    frame.spend(1);
    frame.charge(units);
    return call(frame, ...evals.map((arg) => arg(frame)));
  };
}
