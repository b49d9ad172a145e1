/**
 * Runs the rules of a definition on one object. The walk over the object can be interrupted after each value, so that a large one
 * is validated in slices, and all rules together have one budget.
 *
 *   const run = new RuleRun(tree, object, old, { rules, errors });
 *   const rest = run.begin();   // undefined where all is done; else work in steps
 */
import { CelRuntimeError, CostBudget, CostExceeded, type Program } from '@plat-dev/cel';
import { NONE, Optional } from '@plat-dev/cel/values';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path, show } from '@plat-dev/meta/field';
import type { ValidationRule } from '../schema/json-schema.ts';
import { itemsByKeys, keyText } from '../values/item-keys.ts';
import { isValues, type Values } from '../values/node.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { budgetOf, type RuleRelease } from './rule-release.ts';
import type { RuleNode } from './rule-tree.ts';

/** Cost of finding a value, of starting an expression, and of compiling one. */
const PLACE_UNITS = 2;
const CALL_UNITS = 4;
const COMPILE_UNITS = 2000;
/** Units of work after which the run yields: about a millisecond. */
const STEP = 50_000;
/** Maximum length of a message of an expression, in bytes. */
const MAX_MESSAGE = 5 * 1024;

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** A value in progress: its own rules first, then those of its parts. */
interface Place {
  readonly node: RuleNode;
  readonly value: unknown;
  readonly old: unknown;
  /** Undefined for the object itself. */
  readonly at: Path | undefined;
  /** Whether an update leaves the value, or the nearest one above that has an old value, as it is. */
  readonly isUnchanged: Comparison | undefined;
  /** Keys of an object; undefined for a list. */
  keys: readonly string[] | undefined;
  /** Old items of a list by the text of their keys. */
  oldItems: ReadonlyMap<string, unknown> | undefined;
  /** The next rule of the value, and its next part: below zero before the first. */
  rule: number;
  next: number;
}

interface RunUse {
  readonly rules: RuleRelease;
  readonly errors: FieldErrors;
  /**
   * Called with the errors of values that an update does not change, which are no errors then. Where it is left out, they are.
   * Rules that look at the old value are not let off.
   */
  readonly warn?: ((text: string) => void) | undefined;
  /** The path of the value, if it is not a whole object. */
  readonly at?: Path;
  /** Several values may share a budget. */
  readonly budget?: CostBudget;
}

export class RuleRun {
  private readonly rules: RuleRelease;
  private readonly errors: FieldErrors;
  private readonly warn: ((text: string) => void) | undefined;
  private readonly places: Place[];
  private readonly variables: { self: unknown; oldSelf: unknown } = { self: undefined, oldSelf: undefined };
  /** The limits of one call. */
  private readonly call = new CostBudget(0);
  /** The limits of the object. */
  private readonly budget: CostBudget;
  /** Units of this step, including work that does not count for the object. */
  private done = 0;

  constructor(tree: RuleNode, value: unknown, old: unknown, { rules, errors, warn, at, budget = budgetOf(rules.object) }: RunUse) {
    this.rules = rules;
    this.errors = errors;
    this.warn = warn;
    this.budget = budget;
    this.places = [placeOf(tree, value, old, at)];
    if (warn !== undefined) this.places[0] = { ...(this.places[0] as Place), isUnchanged: new Comparison(value, old) };
  }

  /** The rest of long work; undefined if all is done. */
  begin(): Work<void> | undefined {
    return this.goOn() ? undefined : this.rest();
  }
  private *rest(): Work<void> {
    do yield;
    while (!this.goOn());
  }
  /** One step of the work. Returns whether all is done. */
  private goOn(): boolean {
    const { places } = this;
    this.done = 0;
    while (places.length > 0 && this.done < STEP) if (!this.step(places[places.length - 1] as Place)) places.length = 0;
    return places.length === 0;
  }

  /** Runs a rule of the value, or continues with a part of it. Returns false if no further rules run. */
  private step(place: Place): boolean {
    const { rules } = place.node;
    if (rules !== undefined && place.rule < rules.length) {
      const i = place.rule++;
      const compiled = rules.compiledAt(i);
      if (compiled === undefined) this.done += COMPILE_UNITS;
      return this.runRule(compiled ?? rules.compile(i), place);
    }
    if (place.next < 0) prepareParts(place);
    this.pay(PLACE_UNITS);
    const part = nextPart(place);
    if (part === undefined) this.places.pop();
    else this.places.push(part);
    return true;
  }

  private runRule(compiled: CompiledRule, place: Place): boolean {
    const { program, rule, fault } = compiled;
    if (compiled.transition && place.old === undefined && !compiled.optionalOld) return true;
    if (this.errors.full) return false;
    if (this.isUsedUp) {
      this.report(place, OUT_OF_BUDGET);
      return false;
    }
    if (program === undefined) {
      this.report(place, `rule compile error: ${fault}`);
      return true;
    }
    const { variables } = this;
    variables.self = place.value;
    variables.oldSelf = compiled.optionalOld ? (place.old === undefined ? NONE : new Optional(place.old)) : place.old;
    let result: unknown;
    try {
      result = this.evaluate(program);
    } catch (error) {
      if (error instanceof CostExceeded) {
        this.report(place, this.isUsedUp ? OUT_OF_BUDGET : overCall(error, rule));
        return false;
      }
      if (!(error instanceof CelRuntimeError)) throw error;
      this.report(place, failureText(error, rule));
      return true;
    }
    return result === true || this.reportFalse(compiled, place);
  }

  private get isUsedUp(): boolean {
    return this.budget.remaining <= 0 || this.budget.cost <= 0;
  }
  private pay(units: number): void {
    this.budget.remaining -= units;
    this.done += units;
  }

  /** Throws CelRuntimeError and CostExceeded. */
  private evaluate(program: Program): unknown {
    const { call, budget, rules } = this;
    const work = Math.min(rules.call.work, budget.remaining);
    const cost = Math.min(rules.call.cost, budget.cost);
    call.remaining = work;
    call.cost = cost;
    try {
      return program.evaluate(this.variables, call);
    } finally {
      this.pay(work - Math.max(0, call.remaining) + CALL_UNITS);
      if (Number.isFinite(cost)) budget.cost -= cost - Math.max(0, call.cost);
    }
  }

  private report({ node, at }: Place, detail: string): void {
    this.errors.add('FieldValueInvalid', at ?? ROOT, `Invalid value: ${JSON.stringify(node.type)}: ${detail}`);
  }

  /** Reports a failed rule with its message. Returns false if no further rules run. */
  private reportFalse(compiled: CompiledRule, place: Place): boolean {
    const { rule, message, field, transition } = compiled;
    const { at } = place;
    let detail = shownMessage(rule);
    let goesOn = true;
    if (message !== undefined)
      try {
        detail = usable(this.evaluate(message)) ?? detail;
      } catch (error) {
        if (error instanceof CostExceeded) {
          detail = this.isUsedUp
            ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
            : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`;
          goesOn = false;
        } else if (!(error instanceof CelRuntimeError)) throw error;
      }
    const path = field === '' ? (at ?? ROOT) : at === undefined ? field : field.startsWith('[') ? `${at}${field}` : `${at}.${field}`;
    const [reason, text] = this.failure(rule, place, detail);
    // Comparing takes as long as the value is large: others have their turn after it.
    if (this.warn !== undefined && typeof place.value === 'object') this.done += STEP;
    if (this.warn !== undefined && !transition && place.isUnchanged?.holds() === true) this.warn(`${path}: ${text}`);
    else this.errors.add(reason, path, text);
    return goesOn;
  }

  private failure({ reason = 'FieldValueInvalid' }: ValidationRule, { node, value }: Place, detail: string): readonly [string, string] {
    const shown = !this.rules.showsValues ? JSON.stringify(node.type) : node.type === 'object' || node.type === 'array' ? '' : show(value);
    switch (reason) {
      case 'FieldValueForbidden':
        return [reason, `Forbidden: ${detail}`];
      case 'FieldValueRequired':
        return [reason, `Required value: ${detail}`];
      case 'FieldValueDuplicate':
        return [reason, shown === '' ? 'Duplicate value' : `Duplicate value: ${shown}`];
      default:
        return ['FieldValueInvalid', shown === '' ? `Invalid value: ${detail}` : `Invalid value: ${shown}: ${detail}`];
    }
  }
}

/** The object as a whole, as the stock server writes it in errors of rules. */
const ROOT = '<nil>';

const ruleText = ({ rule, message = '' }: ValidationRule): string => (message === '' ? rule : message).trim();
const shownMessage = (rule: ValidationRule): string => ((rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : ruleText(rule));
const overCall = (error: Error, rule: ValidationRule): string =>
  `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`;
function failureText({ message }: CelRuntimeError, rule: ValidationRule): string {
  // Values that are an integer or a text have their type at run time alone.
  return message.startsWith('no such overload')
    ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
    : `${message} evaluating rule: ${ruleText(rule)}`;
}

/** The message of an expression; undefined if it cannot be used. */
function usable(messageValue: unknown): string | undefined {
  if (typeof messageValue !== 'string') return undefined;
  const text = messageValue.trim();
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE ? undefined : text;
}

// ---- the walk ------------------------------------------------------------------------------------------------------

function placeOf(node: RuleNode, value: unknown, old: unknown, at: Path | undefined, above?: Comparison): Place {
  const isUnchanged = above === undefined || old === undefined ? above : new Comparison(value, old);
  return { node, value, old, at, isUnchanged, keys: undefined, oldItems: undefined, rule: 0, next: -1 };
}

/** Whether a value is as it was: compared when it is first asked. */
class Comparison {
  private readonly value: unknown;
  private readonly old: unknown;
  private result: boolean | undefined;

  constructor(value: unknown, old: unknown) {
    this.value = value;
    this.old = old;
  }
  holds(): boolean {
    this.result ??= equal(this.value, this.old);
    return this.result;
  }
}

function prepareParts(place: Place): void {
  const { node, value, old } = place;
  place.next = 0;
  if (Array.isArray(value)) {
    if (node.items !== undefined && node.keys !== undefined && Array.isArray(old)) place.oldItems = itemsByKeys(old, node.keys);
  } else if (isValues(value) && (node.fields !== undefined || node.values !== undefined)) place.keys = Object.keys(value);
}

/** The next part with rules at or below it. */
function nextPart(place: Place): Place | undefined {
  const { node, value, at } = place;
  if (Array.isArray(value)) {
    if (node.items === undefined) return undefined;
    for (; place.next < value.length; place.next++) {
      const item: unknown = value[place.next];
      if (item === null) continue;
      const key = place.oldItems === undefined ? undefined : keyText(item, node.keys as string[]);
      const old = key === undefined ? undefined : place.oldItems?.get(key);
      return placeOf(node.items, item, old, (at ?? Path.of('')).index(place.next++), place.isUnchanged);
    }
    return undefined;
  }
  const { keys } = place;
  if (keys === undefined) return undefined;
  for (; place.next < keys.length; place.next++) {
    const key = keys[place.next] as string;
    const field = node.fields?.get(key);
    const part = field ?? node.values;
    if (part === undefined) continue;
    const inner = own(value as Values, key);
    if (inner === null || inner === undefined) continue;
    const old = isValues(place.old) ? own(place.old, key) : undefined;
    place.next++;
    const here = field === undefined ? (at ?? Path.of('')).key(key) : at === undefined ? Path.of(key) : at.child(key);
    // Version and kind of the object are those of the request, whatever is stored.
    const isVersion = at === undefined && (key === 'apiVersion' || key === 'kind');
    return placeOf(part, inner, old === null ? undefined : old, here, isVersion ? undefined : place.isUnchanged);
  }
  return undefined;
}
