/**
 * Label selectors: the query syntax of lists and watches, and the LabelSelector object that kinds embed, both compiled to
 * the same value.
 *
 *   a=b, a==b, a!=b      the label has (or has not) that value       x in (1,2), x notin (1,2)
 *   z, !y                the label exists, or does not               n>3, n<9   its value is a number on that side
 *
 * An index can serve the requirements in `equals`; `matches` tests one object.
 */
import { own } from '@plat-dev/lib/own';
import { badRequest } from './errors.ts';
import { type FieldErrors, type Path, show } from './field.ts';
import { scanLabelQuery, type Token } from './labels-scan.ts';
import { labelKey, labelValue } from './names.ts';

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';
export type Labels = Readonly<Record<string, string>>;

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** What matching and printing need is made when it is first needed: most selectors are only matched, or only printed. */
export class LabelSelector {
  /** Nothing matches: the selector was not given. */
  readonly nothing: boolean;
  private readonly unsorted: readonly LabelRequirement[];
  private sorted: readonly LabelRequirement[] | undefined;
  private tests: readonly ((labels: Labels) => boolean)[] | undefined;
  /** A long selector's requirements by key: an object then costs what its labels cost, however long the selector is. */
  private byKey: Requirements | undefined;

  constructor(requirements: readonly LabelRequirement[], nothing = false) {
    this.unsorted = requirements;
    this.nothing = nothing;
  }
  /** By key. */
  get requirements(): readonly LabelRequirement[] {
    this.sorted ??= [...this.unsorted].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return this.sorted;
  }
  /** Requirements on a label to have one of some values; each alone narrows the candidates. */
  get equals(): readonly { readonly key: string; readonly values: readonly string[] }[] {
    return this.requirements.filter((r) => r.operator === '=' || r.operator === '==' || r.operator === 'in');
  }
  /** Every object matches. */
  get everything(): boolean {
    return !this.nothing && this.unsorted.length === 0;
  }
  matches(labels: Labels | undefined): boolean {
    if (this.nothing) return false;
    const tested = labels ?? noLabels;
    if (this.unsorted.length > LONG_FROM) {
      this.byKey ??= grouped(this.unsorted);
      return matchesAll(this.byKey, tested);
    }
    this.tests ??= this.unsorted.map(compile);
    for (const test of this.tests) if (!test(tested)) return false;
    return true;
  }
  toString(): string {
    return this.requirements.map(printRequirement).join(',');
  }
}
const noLabels: Labels = {};

/** Number of requirements from which on a selector is compiled by keys. */
const LONG_FROM = 8;

interface Requirements {
  readonly tests: ReadonlyMap<string, KeyTest>;
  /** How many keys an object must have. */
  readonly requiredKeys: number;
}
/** All requirements on one key. */
interface KeyTest {
  isRequired: boolean;
  absent: boolean;
  /** Values of which the label must have one. */
  in: Set<string> | undefined;
  notIn: Set<string> | undefined;
  above: bigint | undefined;
  below: bigint | undefined;
}

function grouped(requirements: readonly LabelRequirement[]): Requirements {
  const tests = new Map<string, KeyTest>();
  for (const { key, operator, values } of requirements) {
    const test = tests.get(key) ?? {
      isRequired: false,
      absent: false,
      in: undefined,
      notIn: undefined,
      above: undefined,
      below: undefined,
    };
    tests.set(key, test);
    if (operator === '!') test.absent = true;
    else if (operator === '!=' || operator === 'notin') {
      test.notIn ??= new Set();
      for (const value of values) test.notIn.add(value);
    } else test.isRequired = true;
    if (operator === '=' || operator === '==' || operator === 'in') {
      const { in: allowedValues } = test;
      test.in = new Set(allowedValues === undefined ? values : values.filter((value) => allowedValues.has(value)));
    } else if (operator === 'gt') {
      const bound = BigInt(values[0] as string);
      if (test.above === undefined || bound > test.above) test.above = bound;
    } else if (operator === 'lt') {
      const bound = BigInt(values[0] as string);
      if (test.below === undefined || bound < test.below) test.below = bound;
    }
  }
  let requiredKeys = 0;
  for (const test of tests.values()) if (test.isRequired) requiredKeys++;
  return { tests, requiredKeys };
}

/** Selectors on so many keys cost what the labels of an object cost; those on fewer what their keys cost. */
const MANY_KEYS = 64;

function matchesAll({ tests, requiredKeys }: Requirements, labels: Labels): boolean {
  if (tests.size < MANY_KEYS) {
    for (const [key, test] of tests) {
      const value = own(labels, key);
      if (value === undefined ? test.isRequired : !matchesKey(test, value)) return false;
    }
    return true;
  }
  let metKeys = 0;
  for (const key of Object.keys(labels)) {
    const test = tests.get(key);
    if (test === undefined) continue;
    if (!matchesKey(test, labels[key] as string)) return false;
    if (test.isRequired) metKeys++;
  }
  return metKeys === requiredKeys;
}

function matchesKey(test: KeyTest, value: string): boolean {
  if (test.absent || test.notIn?.has(value) || (test.in !== undefined && !test.in.has(value))) return false;
  if (test.above === undefined && test.below === undefined) return true;
  const number = integer(value);
  if (number === undefined) return false;
  return (test.above === undefined || number > test.above) && (test.below === undefined || number < test.below);
}
export const everyLabel = new LabelSelector([]);
export const noLabel = new LabelSelector([], true);

function compile(requirement: LabelRequirement): (labels: Labels) => boolean {
  const { key, values } = requirement;
  const first = values[0] as string;
  switch (requirement.operator) {
    case '=':
    case '==':
      return (labels) => own(labels, key) === first;
    case '!=':
      return (labels) => own(labels, key) !== first;
    case 'in': {
      const set = new Set(values);
      return (labels) => has(labels, key) && set.has(own(labels, key) as string);
    }
    case 'notin': {
      const set = new Set(values);
      return (labels) => !has(labels, key) || !set.has(own(labels, key) as string);
    }
    case 'exists':
      return (labels) => has(labels, key);
    case '!':
      return (labels) => !has(labels, key);
    case 'gt':
    case 'lt': {
      const bound = BigInt(first);
      const above = requirement.operator === 'gt';
      return (labels) => {
        if (!has(labels, key)) return false;
        const value = integer(own(labels, key) as string);
        return value !== undefined && (above ? value > bound : value < bound);
      };
    }
  }
}
const has = (labels: Labels, key: string): boolean => Object.hasOwn(labels, key);

/** A 64-bit whole number, or undefined. */
function integer(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...new Set(values)].sort().join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

// ---- the query syntax ------------------------------------------------------------------------------------------

/** Compiles the text of a `labelSelector` parameter. Throws BadRequest with the text of a stock server. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everyLabel;
  return new LabelSelector(new Parser(scanLabelQuery(text)).all());
}

/** Maximum requirements of one query; more are refused. The values of `in` and `notin` are not counted: they cost a look-up. */
export const MAX_REQUIREMENTS = 5000;

const startsRequirement = (token: Token): boolean => token.type === 'word' || token.type === '!';

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }
  private get ahead(): Token {
    return this.tokens[this.at] as Token;
  }
  private next(): Token {
    const token = this.ahead;
    if (token.type !== 'end') this.at++;
    return token;
  }
  all(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.ahead.type === 'end') return requirements;
    if (!startsRequirement(this.ahead)) throw badRequest(`found '${this.ahead.text}', expected: !, identifier, or 'end of string'`);
    for (;;) {
      if (requirements.length >= MAX_REQUIREMENTS) throw badRequest(`the label selector has more than ${MAX_REQUIREMENTS} requirements`);
      requirements.push(this.requirement());
      const separator = this.next();
      if (separator.type === 'end') return requirements;
      if (separator.type !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      if (!startsRequirement(this.ahead)) throw badRequest(`found '${this.ahead.text}', expected: identifier after ','`);
    }
  }
  private requirement(): LabelRequirement {
    const negated = this.ahead.type === '!';
    if (negated) this.next();
    const key = this.next();
    if (key.type !== 'word') throw unparsable(`found '${key.text}', expected: identifier`);
    const problems = labelKey(key.text);
    if (problems.length > 0) throw unparsable(`key: Invalid value: ${show(key.text)}: ${problems.join('; ')}`);
    if (negated) return { key: key.text, operator: '!', values: [] };
    if (this.ahead.type === 'end' || this.ahead.type === ',') return { key: key.text, operator: 'exists', values: [] };
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.valueList() : [this.exactValue()];
    checkValues(key.text, operator, values);
    return { key: key.text, operator, values };
  }
  private operator(): Exclude<LabelOperator, 'exists' | '!'> {
    const token = this.next();
    if (token.type === '=' || token.type === '==' || token.type === '!=') return token.type;
    if (token.type === '>') return 'gt';
    if (token.type === '<') return 'lt';
    if (token.type === 'word' && (token.text === 'in' || token.text === 'notin')) return token.text;
    throw unparsable(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  private exactValue(): string {
    if (this.ahead.type === 'end' || this.ahead.type === ',') return '';
    const token = this.next();
    if (token.type !== 'word') throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }
  /** `(a,b)`; an omitted value is the empty one, so that `()`, `(a,)` and `(,)` contain it. */
  private valueList(): string[] {
    const open = this.next();
    if (open.type !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    if (this.ahead.type !== ')' && this.ahead.type !== ',' && this.ahead.type !== 'word') {
      throw unparsable(`found '${this.ahead.text}', expected: ',', ')' or identifier`);
    }
    for (;;) {
      values.add(this.ahead.type === 'word' ? this.next().text : '');
      const token = this.next();
      if (token.type === ')') return [...values].sort();
      if (token.type !== ',') throw unparsable(`found '${token.text}', expected: ',' or ')'`);
      if (this.ahead.type !== ')' && this.ahead.type !== ',' && this.ahead.type !== 'word') {
        throw unparsable(`found '${this.ahead.text}', expected: ',', or identifier`);
      }
    }
  }
}
const unparsable = (why: string) => badRequest(`unable to parse requirement: ${why}`);

function checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  const faults: string[] = [];
  if (operator === 'gt' || operator === 'lt') {
    values.forEach((value, i) => {
      if (integer(value) === undefined) {
        faults.push(`values[${i}]: Invalid value: ${show(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
      }
    });
  }
  values.forEach((value, i) => {
    const problems = labelValue(value);
    if (problems.length > 0) faults.push(`values[${i}][${key}]: Invalid value: ${show(value)}: ${problems.join('; ')}`);
  });
  if (faults.length > 0) throw unparsable(faults.length === 1 ? (faults[0] as string) : `[${faults.join(', ')}]`);
}

// ---- the object --------------------------------------------------------------------------------------------------

/** The LabelSelector object of the API. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
const objectOperators: Readonly<Record<string, LabelOperator>> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** Compiles a LabelSelector object: absent selects nothing, empty selects everything. Throws BadRequest for an invalid one. */
export function fromLabelSelector(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return noLabel;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(object.matchLabels ?? {})) requirements.push({ key, operator: '=', values: [value] });
  for (const { key, operator, values } of object.matchExpressions ?? []) {
    const labelOperator = own(objectOperators, operator);
    if (labelOperator === undefined) throw badRequest(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push({ key, operator: labelOperator, values: values ?? [] });
  }
  return requirements.length === 0 ? everyLabel : new LabelSelector(requirements);
}

/** A selector for exactly these labels. */
export function fromLabels(labels: Labels): LabelSelector {
  return fromLabelSelector({ matchLabels: labels });
}

/** Validates a LabelSelector object within a kind. */
export function validateLabelSelector(object: LabelSelectorObject | undefined, path: Path, errors: FieldErrors): void {
  if (object === undefined) return;
  validateLabels(object.matchLabels, path.child('matchLabels'), errors);
  const expressions = path.child('matchExpressions');
  object.matchExpressions?.forEach((expression, i) => {
    const at = expressions.index(i);
    const count = expression.values?.length ?? 0;
    if (expression.operator === 'In' || expression.operator === 'NotIn') {
      if (count === 0) errors.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (expression.operator === 'Exists' || expression.operator === 'DoesNotExist') {
      if (count > 0) errors.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      errors.invalid(at.child('operator'), expression.operator, 'not a valid selector operator');
    }
    for (const problem of labelKey(expression.key)) errors.invalid(at.child('key'), expression.key, problem);
  });
}

/** Validates a map of labels: each key a qualified name, each value a label value. */
export function validateLabels(labels: Labels | undefined, path: Path, errors: FieldErrors): void {
  if (labels === undefined) return;
  for (const key of Object.keys(labels)) {
    for (const problem of labelKey(key)) errors.invalid(path, key, problem);
    const value = labels[key] as string;
    for (const problem of labelValue(value)) errors.invalid(path, value, problem);
  }
}
