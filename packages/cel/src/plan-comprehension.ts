/** Macros over lists and maps. */

import type { Macro } from './ast.ts';
import type { Frame } from './budget.ts';
import type { Checked, CheckedComprehension } from './checked-expressions.ts';
import { Failure, fail, noOverload } from './errors.ts';
import { shownKey } from './functions/operators.ts';
import { absorb, adapted, type Eval, isFolded, isKey, LIST_UNITS, MAP_UNITS, type Planner } from './plan-parts.ts';
import type { CelType } from './types.ts';
import { CelMap, isMap, keysOf, lookUp, mapSize, unboxDouble } from './values.ts';

/** Units of a round without what it evaluates, as in a stock server. */
export const ROUND_UNITS: Readonly<Record<Macro, number>> = {
  all: 3,
  exists: 4,
  existsOne: 3,
  map: 12,
  filter: 13,
  transformMap: 32,
  transformMapEntry: 32,
};

/** Units of taking the keys of a map, in addition to one for each. */
const KEYS_UNITS = 10;

const ANY: CelType = { kind: 'dyn' };

/** Called for each round, with what the local variables are set to. Returns whether to go on. */
type Round = (frame: Frame, item: unknown, key: unknown) => boolean;

/** Sets the local variables and goes over a list or a map. */
function planRounds(checked: CheckedComprehension, planned: Planner): (frame: Frame, round: Round) => void {
  const range = planned(checked.range);
  const { slot, secondSlot } = checked;
  const unboxFirst = checked.variable.kind === 'double';
  const unboxSecond = checked.second.kind === 'double';
  const run = (frame: Frame, round: Round, key: unknown, value: unknown, only: unknown): boolean => {
    const { locals } = frame;
    if (secondSlot === undefined) locals[slot] = unboxFirst ? unboxDouble(only) : only;
    else {
      locals[slot] = key;
      locals[secondSlot] = unboxSecond ? unboxDouble(value) : value;
    }
    return round(frame, only, key);
  };
  return (frame, round) => {
    const values = range(frame);
    if (Array.isArray(values)) {
      for (let i = 0; i < values.length; i++) if (!run(frame, round, i, values[i], values[i])) return;
    } else if (isMap(values)) {
      frame.spend(KEYS_UNITS + mapSize(values));
      for (const key of keysOf(values))
        if (!run(frame, round, key, secondSlot === undefined ? undefined : lookUp(values, key), key)) return;
    } else noOverload();
  };
}

export function planComprehension(checked: CheckedComprehension, planned: Planner): Eval {
  const rounds = planRounds(checked, planned);
  const { macro } = checked;
  switch (macro) {
    case 'all':
    case 'exists':
      return planQuantifier(rounds, planned(checked.body), macro === 'exists');
    case 'existsOne':
      return planExistsOne(rounds, planned(checked.body));
    case 'filter':
      return planFilter(rounds, planned(checked.body));
    case 'map':
      return planMap(
        rounds,
        mapUnits(checked.body),
        adapted(planned(checked.body), checked.body.type, ANY),
        checked.filter && planned(checked.filter),
      );
    default: {
      const body = adapted(planned(checked.body), checked.body.type, ANY);
      return planTransform(rounds, body, checked.filter && planned(checked.filter), macro === 'transformMapEntry');
    }
  }
}

type Rounds = (frame: Frame, round: Round) => void;

/** One item that decides makes up for others that fail. */
function planQuantifier(rounds: Rounds, body: Eval, decides: boolean): Eval {
  const units = ROUND_UNITS[decides ? 'exists' : 'all'];
  return (frame) => {
    let failure: Failure | undefined;
    let decided = false;
    rounds(frame, (inner) => {
      // A stock server finds out before the next item that it is decided.
      if (decided) {
        inner.charge(units - 1);
        return false;
      }
      inner.spend(ROUND_UNITS.all);
      inner.charge(units);
      try {
        const value = body(inner);
        decided = value === decides;
        if (!decided && value !== !decides) noOverload();
      } catch (error) {
        failure ??= absorb(inner, error);
      }
      return true;
    });
    frame.charge(1);
    if (decided) return decides;
    if (failure !== undefined) throw failure;
    return !decides;
  };
}

function planExistsOne(rounds: Rounds, body: Eval): Eval {
  return (frame) => {
    let count = 0;
    rounds(frame, (inner) => {
      inner.spend(ROUND_UNITS.existsOne);
      if (holds(body(inner))) {
        inner.charge(2);
        count++;
      }
      return true;
    });
    frame.charge(2);
    return count === 1;
  };
}
const holds = (value: unknown): boolean => (typeof value === 'boolean' ? value : noOverload());

function planFilter(rounds: Rounds, body: Eval): Eval {
  return (frame) => {
    frame.spend(LIST_UNITS);
    const items: unknown[] = [];
    rounds(frame, (inner, item) => {
      inner.spend(ROUND_UNITS.map);
      if (holds(body(inner))) {
        inner.charge(ROUND_UNITS.filter);
        items.push(item);
      }
      return true;
    });
    frame.charge(1);
    return items;
  };
}

/** A list of one constant costs nothing to make. */
const mapUnits = (body: Checked): number => (isFolded(body) ? ROUND_UNITS.map - LIST_UNITS : ROUND_UNITS.map);

function planMap(rounds: Rounds, units: number, body: Eval, filter: Eval | undefined): Eval {
  return (frame) => {
    frame.spend(LIST_UNITS);
    const items: unknown[] = [];
    rounds(frame, (inner) => {
      inner.spend(ROUND_UNITS.map);
      if (filter !== undefined && !holds(filter(inner))) return true;
      inner.charge(units);
      items.push(body(inner));
      return true;
    });
    frame.charge(1);
    return items;
  };
}

function planTransform(rounds: Rounds, body: Eval, filter: Eval | undefined, entries: boolean): Eval {
  return (frame) => {
    frame.spend(MAP_UNITS);
    const result = new CelMap();
    rounds(frame, (inner, _, key) => {
      inner.spend(ROUND_UNITS.transformMap);
      if (filter !== undefined && !holds(filter(inner))) return true;
      // The map, its key and putting a value in; an entry is a map of its own.
      inner.charge(entries ? 2 : 3);
      const value = body(inner);
      if (entries) putAll(inner, result, value);
      else result.set(key, value);
      return true;
    });
    frame.charge(1);
    return result;
  };
}
function putAll(frame: Frame, to: CelMap, entries: unknown): void {
  if (!isMap(entries)) throw new Failure('no such overload');
  for (const key of keysOf(entries)) {
    frame.spend(2 * ROUND_UNITS.transformMap);
    if (!isKey(key)) fail('unsupported key type');
    if (to.has(key)) fail(`insert failed: key ${shownKey(key)} already exists`);
    to.set(key, lookUp(entries, key));
  }
}
