/**
 * Values of Go as a template sees those of JSON:
 *
 *   JSON            here                    in Go
 *   a missing key   undefined               no value, printed as <no value>
 *   null            null                    nil
 *   3               3 (lib/integers.ts)     int64
 *   0.5             0.5                     float64
 *   1.0 (template)  new GoFloat(1)          float64
 *   [] {}           arrays, plain objects   []interface {}, map[string]interface {}
 *
 * Texts count in bytes (lib/byte-text.ts).
 */

import { type Integer, isInteger } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { sortedKeys } from '../output/go-json.ts';

/** A float that looks like a whole number. */
export class GoFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}
export type GoMap = Readonly<Record<string, unknown>>;
export type GoKind = 'nil' | 'bool' | 'int' | 'float' | 'string' | 'slice' | 'map';

export function kindOf(value: unknown): GoKind {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      return isInteger(value) ? 'int' : 'float';
    case 'bigint':
      return 'int';
    case 'object':
      if (value === null) return 'nil';
      if (value instanceof GoFloat) return 'float';
      return Array.isArray(value) ? 'slice' : 'map';
    default:
      return 'nil';
  }
}
const typeNames: Readonly<Record<GoKind, string>> = {
  nil: '<nil>',
  bool: 'bool',
  int: 'int64',
  float: 'float64',
  string: 'string',
  slice: '[]interface {}',
  map: 'map[string]interface {}',
};
export const typeName = (value: unknown): string => typeNames[kindOf(value)];
export const numberOf = (value: unknown): Integer => (value instanceof GoFloat ? value.value : (value as Integer));
export const entriesOf = (map: GoMap): [string, unknown][] => sortedKeys(map).map((key) => [key, own(map, key)]);
/** Undefined for what is not there. */
export const memberOf = (map: GoMap, key: string): unknown => own(map, key);

/** What `if`, `and`, `or` and `not` take as true: everything but no value, nil, false, zero and what is empty. */
export function isTrue(value: unknown): boolean {
  switch (kindOf(value)) {
    case 'nil':
      return false;
    case 'bool':
      return value as boolean;
    case 'int':
    case 'float':
      return numberOf(value) !== 0;
    case 'map':
      return Object.keys(value as GoMap).length > 0;
    default:
      return (value as string | readonly unknown[]).length > 0;
  }
}

/** A float as `%v` shows it: the fewest digits that mean the same number, with an exponent if it is very large or small. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
/** A value as `print` shows it. */
export function goText(value: unknown): string {
  switch (kindOf(value)) {
    case 'nil':
      return '<nil>';
    case 'string':
      return value as string;
    case 'bool':
      return String(value);
    case 'int':
      return String(value);
    case 'float':
      return floatText(Number(numberOf(value)));
    case 'slice':
      return `[${(value as readonly unknown[]).map(goText).join(' ')}]`;
    case 'map':
      return `map[${entriesOf(value as GoMap)
        .map(([key, one]) => `${key}:${goText(one)}`)
        .join(' ')}]`;
  }
}
/** `print`: spaces between operands of which neither is a text. */
export function sprint(values: readonly unknown[]): string {
  let text = '';
  values.forEach((value, i) => {
    if (i > 0 && typeof value !== 'string' && typeof values[i - 1] !== 'string') text += ' ';
    text += goText(value);
  });
  return text;
}
/** `println`: spaces between all of them. */
export const sprintln = (values: readonly unknown[]): string => `${values.map(goText).join(' ')}\n`;
