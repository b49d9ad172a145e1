/** Tables of expressions and what they come to. */
import { expect, test } from 'vitest';
import { cidrText, ipText } from './functions/ip-text.ts';
import { durationText, timestampText } from './functions/time-text.ts';
import { CelRuntimeError, CostBudget, compile, type Variables } from './index.ts';
import { CelMap, Duration, Optional, Timestamp, TypeValue, UInt } from './values.ts';

/** A value in a form that a table can spell: big integers as they are, the rest as texts and plain objects. */
function plainly(value: unknown): unknown {
  if (value instanceof UInt) return `${value.value}u`;
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return `type ${value.name}`;
  if (value instanceof Optional) return value.present ? { value: plainly(value.value) } : 'none';
  if (value instanceof CelMap) return Object.fromEntries([...value.pairs()].map(([key, of]) => [String(plainly(key)), plainly(of)]));
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value === 'object' && value !== null && 'bytes' in value)
    return 'bits' in value ? cidrText(value as { bytes: Uint8Array; bits: number }) : ipText(value.bytes as Uint8Array);
  return typeof value === 'object' && value !== null && 'value' in value ? value.value : value;
}

export const ENOUGH = 100_000;

export function evaluate(source: string, values: Readonly<Record<string, unknown>> = {}, types: Variables = {}): unknown {
  return plainly(compile(source, types).evaluate(values, new CostBudget(ENOUGH)));
}

/** `source: result`, one test each. */
export function comeTo(
  name: string,
  table: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>> = {},
  types: Variables = {},
): void {
  test.each(Object.entries(table))(`${name}: %s`, (source, result) => {
    expect(evaluate(source, values, types)).toEqual(result);
  });
}

/** `source: message` of those that fail while they run. */
export function fail(
  name: string,
  table: Readonly<Record<string, string>>,
  values: Readonly<Record<string, unknown>> = {},
  types: Variables = {},
): void {
  test.each(Object.entries(table))(`${name} fails: %s`, (source, message) => {
    const program = compile(source, types);
    const run = (): unknown => program.evaluate(values, new CostBudget(ENOUGH));
    expect(run).toThrow(CelRuntimeError);
    expect(run).toThrow(message);
  });
}
