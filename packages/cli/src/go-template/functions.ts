/** The functions of templates: those of Go, and `exists` and `base64decode` of kubectl. */
import { bytesOf, textOf } from '@plat-dev/lib/byte-text';
import { escapeHtml, escapeJs, escapeQuery } from './escape.ts';
import { sprintf } from './printf.ts';
import { type GoKind, type GoMap, goText, isTrue, kindOf, memberOf, numberOf, sprint, sprintln, typeName } from './values.ts';

export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  /** Throws an Error that says what is wrong with the arguments. */
  call(args: readonly unknown[]): unknown;
}
const fixed = (count: number, call: (args: readonly unknown[]) => unknown): TemplateFunction => ({ least: count, most: count, call });
const any = (least: number, call: (args: readonly unknown[]) => unknown): TemplateFunction => ({
  least,
  most: Number.POSITIVE_INFINITY,
  call,
});

/** `and` and `or` evaluate their arguments one by one, so the executor has them. */
export const lazyFunctions: ReadonlySet<string> = new Set(['and', 'or']);

export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map([
  ['base64decode', fixed(1, ([text]) => base64decode(text))],
  ['eq', any(2, ([first, ...others]) => others.some((other) => areEqual(first, other)))],
  ['exists', any(1, ([item, ...indexes]) => exists(item, indexes))],
  ['ge', fixed(2, ([a, b]) => !isLess(a, b))],
  ['gt', fixed(2, ([a, b]) => !isLess(a, b) && !areEqual(a, b))],
  ['html', any(0, (args) => escapeHtml(printedArgs(args)))],
  ['index', any(1, ([item, ...indexes]) => index(item, indexes))],
  ['js', any(0, (args) => escapeJs(printedArgs(args)))],
  ['le', fixed(2, ([a, b]) => isLess(a, b) || areEqual(a, b))],
  ['len', fixed(1, ([item]) => length(item))],
  ['lt', fixed(2, ([a, b]) => isLess(a, b))],
  ['ne', fixed(2, ([a, b]) => !areEqual(a, b))],
  ['not', fixed(1, ([value]) => !isTrue(value))],
  ['print', any(0, sprint)],
  ['printf', any(1, ([format, ...args]) => printf(format, args))],
  ['println', any(0, sprintln)],
  ['slice', { least: 1, most: 4, call: ([item, ...indexes]) => slice(item, indexes) }],
  ['urlquery', any(0, (args) => escapeQuery(printedArgs(args)))],
]);

/** Arguments of the functions that escape; what is not there is shown as by the template itself. */
const printedArgs = (args: readonly unknown[]): string => sprint(args.map((arg) => arg ?? '<no value>'));

function printf(format: unknown, args: readonly unknown[]): string {
  if (typeof format !== 'string') throw new Error(`the format must be a text, not ${typeName(format)}`);
  return sprintf(format, args);
}
function base64decode(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`a text is needed, not ${typeName(value)}`);
  const text = value.replace(/[\r\n]/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(text)) throw new Error('the text is not base64');
  return textOf(Buffer.from(text, 'base64'));
}

// ---- comparisons -------------------------------------------------------------------------------------------------

const basic: ReadonlySet<GoKind> = new Set(['bool', 'int', 'float', 'string']);
const compared = (value: unknown): unknown => (kindOf(value) === 'float' ? numberOf(value) : value);

function areEqual(a: unknown, b: unknown): boolean {
  const [one, other] = [kindOf(a), kindOf(b)];
  for (const [kind, value] of [
    [one, a],
    [other, b],
  ] as const)
    if (kind === 'map' || kind === 'slice') throw new Error(`values of type ${typeName(value)} cannot be compared`);
  // nil is comparable with everything.
  if (one === 'nil' || other === 'nil') return one === other;
  if (one !== other) throw incompatible(a, b);
  return compared(a) === compared(b);
}
function isLess(a: unknown, b: unknown): boolean {
  const [one, other] = [kindOf(a), kindOf(b)];
  if (!basic.has(one) || !basic.has(other) || one === 'bool')
    throw new Error(`${one === 'nil' || other === 'nil' ? 'nil has' : 'these values have'} no order`);
  if (one !== other) throw incompatible(a, b);
  return one === 'string' ? Buffer.compare(bytesOf(a as string), bytesOf(b as string)) < 0 : numberOf(a) < numberOf(b);
}
const incompatible = (a: unknown, b: unknown): Error => new Error(`${typeName(a)} cannot be compared with ${typeName(b)}`);

// ---- parts -------------------------------------------------------------------------------------------------------

function length(item: unknown): number {
  switch (kindOf(item)) {
    case 'string':
      return bytesOf(item as string).length;
    case 'slice':
      return (item as readonly unknown[]).length;
    case 'map':
      return Object.keys(item as GoMap).length;
    default:
      throw new Error(`${item === null || item === undefined ? 'nil' : `a value of type ${typeName(item)}`} has no length`);
  }
}
function position(index: unknown, most: number): number {
  if (kindOf(index) !== 'int') throw new Error(`an index of a list must be a whole number, not ${typeName(index)}`);
  const n = index as number;
  if (n < 0 || n > most) throw new Error(`index out of range: ${n}`);
  return n;
}
/** What is not in a map is nil. */
function index(item: unknown, indexes: readonly unknown[]): unknown {
  if (kindOf(item) === 'nil') throw new Error('nil has no parts: the value before it does not exist');
  let value = item;
  for (const one of indexes) value = part(value, one);
  return value;
}
function part(item: unknown, index: unknown): unknown {
  switch (kindOf(item)) {
    case 'string': {
      const bytes = bytesOf(item as string);
      return bytes[position(index, bytes.length - 1)];
    }
    case 'slice':
      return (item as readonly unknown[])[position(index, (item as readonly unknown[]).length - 1)];
    case 'map':
      if (typeof index !== 'string') throw new Error(`a key must be a text, not ${typeName(index)}`);
      return memberOf(item as GoMap, index) ?? null;
    default:
      throw new Error(`${kindOf(item) === 'nil' ? 'nil' : goText(item)} has no parts`);
  }
}
function exists(item: unknown, indexes: readonly unknown[]): boolean {
  let value = item;
  for (const one of indexes) {
    const kind = kindOf(value);
    if (kind === 'map' && typeof one !== 'string') return false;
    if ((kind === 'slice' || kind === 'string') && (kindOf(one) !== 'int' || (one as number) < 0 || (one as number) >= length(value)))
      return false;
    if (kind !== 'map' && kind !== 'slice' && kind !== 'string') return false;
    value = part(value, one);
  }
  return value !== null && value !== undefined;
}
function slice(item: unknown, indexes: readonly unknown[]): unknown {
  const kind = kindOf(item);
  if (kind !== 'string' && kind !== 'slice')
    throw new Error(`${kind === 'nil' ? 'nil' : `a value of type ${typeName(item)}`} cannot be sliced`);
  if (kind === 'string' && indexes.length > 2) throw new Error('a text cannot be sliced by three indexes');
  const most = length(item);
  const [from = 0, to = most, limit = most] = indexes.map((one) => position(one, most));
  if (from > to || to > limit) throw new Error(`invalid slice index: ${from > to ? `${from} > ${to}` : `${to} > ${limit}`}`);
  return kind === 'string' ? textOf(bytesOf(item as string).subarray(from, to)) : (item as readonly unknown[]).slice(from, to);
}
