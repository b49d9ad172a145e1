/** Resolves the names and calls of an expression, and finds the type of every part of it. */
import { own } from '@plat-dev/lib/own';
import type { Bind, Call, Comprehension, Expr, Ident, ListLiteral, Literal, Logic, MapLiteral, MessageLiteral, Select } from './ast.ts';
import type { Checked, CheckedItem } from './checked-expressions.ts';
import type { Environment } from './environment.ts';
import { type CelIssue, placeOf } from './errors.ts';
import type { Overload } from './functions/signature.ts';
import { wrongLiteral } from './literal-checks.ts';
import { nameOf } from './parser.ts';
import type { Meter } from './pattern/match.ts';
import {
  assignable,
  type Bindings,
  BOOL,
  type CelType,
  DYN,
  type Field,
  fits,
  INT,
  isEquivalent,
  join,
  listOf,
  mapOf,
  type ObjectType,
  optionalOf,
  showType,
  substitute,
  TYPE,
  UNDECIDED,
  type Variables,
} from './types.ts';
import { TypeValue } from './values.ts';

export interface CheckResult {
  readonly root: Checked;
  /** Variables that are used. */
  readonly variables: ReadonlySet<string>;
  /** How many local variables there are at most. */
  readonly slots: number;
  readonly issues: readonly CelIssue[];
}

/** Most issues that are reported of one expression. */
const MAX_ISSUES = 20;

export function check(source: string, expr: Expr, variables: Variables, environment: Environment, meter: Meter): CheckResult {
  const checker = new Checker(source, variables, environment, meter);
  const root = checker.visit(expr);
  const issues = checker.issues.length > 0 ? checker.issues : checker.literalIssues;
  return { root, variables: checker.used, slots: checker.slots, issues };
}

interface Local {
  readonly name: string;
  readonly slot: number;
  readonly type: CelType;
}
/** A part with an issue: what is around it is checked as if it could be anything. */
const UNKNOWN: Checked = { op: 'constant', type: DYN, value: null };

class Checker {
  readonly issues: CelIssue[] = [];
  /** They count where there are no others. */
  readonly literalIssues: CelIssue[] = [];
  readonly used = new Set<string>();
  slots = 0;
  private readonly source: string;
  private readonly variables: Variables;
  private readonly environment: Environment;
  private readonly meter: Meter;
  private locals: Local[] = [];
  /** Within a call of `format`. */
  private isFormatted = false;

  constructor(source: string, variables: Variables, environment: Environment, meter: Meter) {
    this.source = source;
    this.variables = variables;
    this.environment = environment;
    this.meter = meter;
  }

  private report(at: number, message: string): Checked {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ ...placeOf(this.source, at), message });
    return UNKNOWN;
  }

  visit(expr: Expr): Checked {
    switch (expr.node) {
      case 'literal':
        return constant(expr);
      case 'ident':
        return this.ident(expr);
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'logic':
        return this.logic(expr);
      case 'conditional':
        return this.conditional(expr.at, this.visit(expr.condition), this.visit(expr.then), this.visit(expr.otherwise));
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'message':
        return this.message(expr);
      case 'comprehension':
        return this.comprehension(expr);
      case 'bind':
        return this.bind(expr);
    }
  }

  // ---- names -------------------------------------------------------------------------------------------------------

  private ident(expr: Ident): Checked {
    const resolved = (expr.absolute ? undefined : this.local(expr.name)) ?? this.global(expr.name);
    return resolved ?? this.report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
  }
  private local(name: string): Checked | undefined {
    const local = this.locals.findLast((one) => one.name === name);
    return local === undefined ? undefined : { op: 'local', type: local.type, slot: local.slot };
  }
  private global(name: string): Checked | undefined {
    const type = own(this.variables, name);
    if (type !== undefined) {
      this.used.add(name);
      return { op: 'variable', type, name };
    }
    return this.environment.typeNames.has(name) ? { op: 'constant', type: TYPE, value: new TypeValue(name) } : undefined;
  }
  /** `a.b.c` where that is the name of a variable or a type. */
  private qualified(expr: Expr): Checked | undefined {
    const name = nameOf(expr);
    if (name === undefined || !name.includes('.')) return undefined;
    return isAbsolute(expr) || this.local(name.slice(0, name.indexOf('.'))) === undefined ? this.global(name) : undefined;
  }

  private select(expr: Select): Checked {
    const whole = expr.test ? undefined : this.qualified(expr);
    if (whole !== undefined) return whole;
    const operand = this.visit(expr.operand);
    const { op, wrap } = selection(expr);
    const field = this.fieldOf(operand.type, expr);
    if (field === undefined) return UNKNOWN;
    const type = operand.type.kind === 'optional' && !expr.test ? optionalOf(field.type) : wrap(field.type);
    return { op: operand.type.kind === 'optional' && op === 'field' ? 'optionalField' : op, type, operand, property: field.property };
  }
  private fieldOf(type: CelType, expr: Select): { readonly property: string; readonly type: CelType } | undefined {
    switch (type.kind) {
      case 'dyn':
        return { property: expr.field, type: DYN };
      case 'map':
        if (type.key.kind === 'string' || type.key.kind === 'dyn') return { property: expr.field, type: type.of };
        break;
      case 'object': {
        const field = fieldOf(type, expr.field);
        if (field === undefined) this.report(expr.at, `undefined field '${expr.field}'`);
        return field;
      }
      case 'optional':
        return this.fieldOf(type.of, expr);
    }
    this.report(expr.at, `type '${showType(type)}' does not support field selection`);
    return undefined;
  }

  // ---- calls -------------------------------------------------------------------------------------------------------

  private call(expr: Call): Checked {
    const space = expr.target === undefined ? undefined : nameOf(expr.target);
    const inSpace = space === undefined ? undefined : `${space}.${expr.name}`;
    const isMember = inSpace === undefined ? expr.target !== undefined : !this.environment.functions.has(inSpace);
    const name = isMember || inSpace === undefined ? expr.name : inSpace;
    const wasFormatted = this.isFormatted;
    this.isFormatted ||= name === 'format';
    const target = isMember && expr.target !== undefined ? [this.visit(expr.target)] : [];
    const args = [...target, ...expr.args.map((arg) => this.visit(arg))];
    this.isFormatted = wasFormatted;
    const overloads = this.environment.functions.get(name) ?? [];
    if (overloads.length === 0) return this.report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
    if (this.environment.has('checkedLiterals')) this.checkLiteral(expr);
    return this.resolve(expr.at, name, isMember, overloads, args);
  }

  private checkLiteral(expr: Call): void {
    const issue = wrongLiteral(expr, this.meter);
    if (issue !== undefined) this.reportLiteral(issue.at, issue.message);
  }
  private reportLiteral(at: number, message: string): void {
    if (this.literalIssues.length < MAX_ISSUES) this.literalIssues.push({ ...placeOf(this.source, at), message });
  }

  private resolve(at: number, name: string, isMember: boolean, named: readonly Overload[], args: readonly Checked[]): Checked {
    const isDynamic = args.some(({ type }) => type.kind === 'dyn');
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of named) {
      if (overload.member !== isMember || overload.params.length !== args.length || (overload.dynamicOnly === true && !isDynamic)) continue;
      const bindings: Bindings = new Map();
      if (!overload.params.every((param, i) => fits(param, (args[i] as Checked).type, bindings))) continue;
      overloads.push(overload);
      const own = substitute(overload.result, bindings);
      result = result === undefined ? own : join(result, own);
    }
    if (result !== undefined) return { op: 'call', type: sized(name, result, args), name, overloads, args };
    const types = args.map(({ type }) => showType(type));
    const applied = isMember ? `${types[0]}.(${types.slice(1).join(', ')})` : `(${types.join(', ')})`;
    return this.report(at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  private logic({ at, operator, terms: operands }: Logic): Checked {
    const terms = operands.map((term) => this.visit(term));
    const wrong = terms.findIndex(({ type }) => !assignable(BOOL, type));
    if (wrong >= 0) {
      const around = wrong === 0 ? terms.slice(0, 2) : terms.slice(wrong - 1, wrong + 1);
      const types = around.map(({ type }) => showType(type)).join(', ');
      return this.report(at, `found no matching overload for '_${operator}_' applied to '(${types})'`);
    }
    return { op: 'logic', type: BOOL, operator, terms };
  }

  private conditional(at: number, condition: Checked, then: Checked, otherwise: Checked): Checked {
    const isSame = assignable(then.type, otherwise.type) || assignable(otherwise.type, then.type);
    if (!assignable(BOOL, condition.type) || !isSame) {
      const types = [condition, then, otherwise].map(({ type }) => showType(type)).join(', ');
      return this.report(at, `found no matching overload for '_?_:_' applied to '(${types})'`);
    }
    return { op: 'conditional', type: join(then.type, otherwise.type), condition, then, otherwise };
  }

  // ---- lists and maps ------------------------------------------------------------------------------------------------

  private list(expr: ListLiteral): Checked {
    const items = expr.items.map(({ value, optional }) => this.item(value, optional));
    const places = expr.items.map(({ value }) => value.at);
    return { op: 'list', type: listOf(this.joined(items.map(itemType), places), items.length), items };
  }
  /** The type of all items, keys or values: in a stock server they have to be of one, except what is formatted. */
  private joined(types: readonly CelType[], places: readonly number[]): CelType {
    const [first = UNDECIDED, ...rest] = types;
    const other = this.environment.isStock && !this.isFormatted ? types.findIndex((type) => !isEquivalent(first, type)) : -1;
    if (other >= 0)
      this.reportLiteral(places[other] as number, `expected type '${showType(first)}' but found '${showType(types[other] as CelType)}'`);
    return rest.reduce(join, first);
  }
  private item(expr: Expr, optional: boolean): CheckedItem {
    const value = this.visit(expr);
    if (optional && !assignable(optionalOf(DYN), value.type))
      this.report(expr.at, `expected type 'optional_type' but found '${showType(value.type)}'`);
    return { value, optional };
  }
  private map(expr: MapLiteral): Checked {
    const entries = expr.entries.map(({ key, value, optional }) => {
      const checked = this.visit(key);
      if (!/^(?:dyn|string|int|uint|bool)$/.test(checked.type.kind)) this.report(key.at, `unsupported key type: ${showType(checked.type)}`);
      return { key: checked, ...this.item(value, optional) };
    });
    const keyPlaces = expr.entries.map(({ key }) => key.at);
    const valuePlaces = expr.entries.map(({ value }) => value.at);
    const key = this.joined(
      entries.map((entry) => entry.key.type),
      keyPlaces,
    );
    return { op: 'map', type: mapOf(key, this.joined(entries.map(itemType), valuePlaces), entries.length), entries };
  }
  private message(expr: MessageLiteral): Checked {
    const type = this.environment.constructed(expr.name);
    if (type === undefined) {
      for (const { value } of expr.fields) this.visit(value);
      return this.report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
    }
    const fields = expr.fields.map(({ name, at, value, optional }) => {
      const item = this.item(value, optional);
      const field = fieldOf(type, name);
      if (field === undefined) this.report(at, `undefined field '${name}'`);
      else if (!assignable(field.type, itemType(item)))
        this.report(at, `expected type of field '${name}' is '${showType(field.type)}' but provided type is '${showType(itemType(item))}'`);
      return { name, ...item };
    });
    return { op: 'object', type, fields };
  }

  // ---- macros --------------------------------------------------------------------------------------------------------

  /** What is done within reach of local variables. */
  private within<T>(locals: readonly (readonly [string, CelType])[], visit: (slots: readonly number[]) => T): T {
    const outerLocals = this.locals;
    const slots = locals.map((_, i) => outerLocals.length + i);
    this.locals = [...outerLocals, ...locals.map(([name, type], i) => ({ name, type, slot: slots[i] as number }))];
    this.slots = Math.max(this.slots, this.locals.length);
    const result = visit(slots);
    this.locals = outerLocals;
    return result;
  }

  private comprehension(expr: Comprehension): Checked {
    const range = this.visit(expr.range);
    const items = iterated(range.type);
    if (items === undefined)
      return this.report(
        expr.range.at,
        `expression of type '${showType(range.type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    const variable = expr.second === undefined && range.type.kind === 'list' ? items.value : items.key;
    const locals: [string, CelType][] = [[expr.variable, variable]];
    if (expr.second !== undefined) locals.push([expr.second, items.value]);
    return this.within(locals, ([slot = 0, secondSlot]) => {
      const filter = expr.filter === undefined ? undefined : this.condition(expr.filter);
      const body = expr.macro === 'map' || expr.macro.startsWith('transform') ? this.visit(expr.body) : this.condition(expr.body);
      const type = resultOf(expr, range.type, variable, body.type);
      return { op: 'comprehension', type, macro: expr.macro, range, slot, variable, secondSlot, second: items.value, body, filter };
    });
  }
  private condition(expr: Expr): Checked {
    const checked = this.visit(expr);
    if (!assignable(BOOL, checked.type)) this.report(expr.at, `expected type 'bool' but found '${showType(checked.type)}'`);
    return checked;
  }

  private bind(expr: Bind): Checked {
    const value = this.visit(expr.value);
    const { macro } = expr;
    if (macro !== 'bind' && !assignable(optionalOf(DYN), value.type)) {
      const types = showType(value.type);
      return this.report(expr.at, `found no matching overload for '${macro}' applied to '${types}.()'`);
    }
    const inner = macro === 'bind' ? value.type : value.type.kind === 'optional' ? value.type.of : DYN;
    return this.within([[expr.variable, inner]], ([slot = 0]) => {
      const body = this.visit(expr.body);
      const type = macro === 'optMap' ? optionalOf(body.type) : body.type;
      return { op: 'bind', type, macro, slot, value, body };
    });
  }
}

/** Whether a name begins with a dot. */
const isAbsolute = (expr: Expr): boolean => (expr.node === 'select' ? isAbsolute(expr.operand) : expr.node === 'ident' && expr.absolute);

function constant({ value, type }: Literal): Checked {
  const maxSize = type === 'string' ? (value as string).length : type === 'bytes' ? (value as Uint8Array).length : undefined;
  return { op: 'constant', type: maxSize === undefined ? { kind: type } : { kind: type, maxSize }, value };
}

function selection({ test, optional }: Select): { op: 'field' | 'has' | 'optionalField'; wrap: (type: CelType) => CelType } {
  if (test) return { op: 'has', wrap: () => BOOL };
  return optional ? { op: 'optionalField', wrap: optionalOf } : { op: 'field', wrap: (type) => type };
}

const itemType = ({ value, optional }: CheckedItem): CelType => (optional && value.type.kind === 'optional' ? value.type.of : value.type);

/** A field of an object by the name that expressions use. */
function fieldOf(type: ObjectType, name: string): Field | undefined {
  return type.fields.get(name) ?? (type.open === undefined ? undefined : { property: name, type: type.open });
}

/** What a macro goes over: keys or indexes, and values. Undefined where there is nothing to go over. */
function iterated(type: CelType): { readonly key: CelType; readonly value: CelType } | undefined {
  switch (type.kind) {
    case 'dyn':
      return { key: DYN, value: DYN };
    case 'list':
      return { key: INT, value: type.of };
    case 'map':
      return { key: type.key, value: type.of };
    default:
      return undefined;
  }
}

function resultOf({ macro }: Comprehension, range: CelType, variable: CelType, body: CelType): CelType {
  const key = range.kind === 'map' ? range.key : range.kind === 'list' ? INT : DYN;
  switch (macro) {
    case 'map':
      return listOf(body);
    case 'filter':
      return listOf(variable);
    case 'transformMap':
      return mapOf(key, body);
    case 'transformMapEntry':
      return body.kind === 'map' ? mapOf(body.key, body.of) : mapOf(DYN, DYN);
    default:
      return BOOL;
  }
}

/** `+` of two lists of the API is a list of the same kind. */
function sized(name: string, result: CelType, args: readonly Checked[]): CelType {
  const [first] = args;
  if (name !== '_+_' || result.kind !== 'list' || first?.type.kind !== 'list' || first.type.listType === undefined) return result;
  const { listType, keys } = first.type;
  return { ...result, listType, ...(keys === undefined ? {} : { keys }) };
}
