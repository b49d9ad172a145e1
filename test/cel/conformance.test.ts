/**
 * The public conformance cases of the language (google/cel-spec, tests/simple/testdata), which are not kept here:
 *
 *   CEL_CONFORMANCE=path/to/cel-spec/tests/simple/testdata npx vitest run test/cel/conformance.test.ts
 *
 * Cases about protobuf messages are left out, since values here are JSON, and those that only an evaluation without a check passes. What else
 * differs stands in `differences`, with the reason.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Frame } from '../../packages/cel/src/budget.ts';
import { equal } from '../../packages/cel/src/equal.ts';
import {
  CelError,
  CelRuntimeError,
  type CelType,
  CostBudget,
  compile,
  DYN,
  listOf,
  mapOf,
  optionalOf,
} from '../../packages/cel/src/index.ts';
import { boxDouble, CelMap, Duration, Optional, Timestamp, TypeValue, UInt } from '../../packages/cel/src/values.ts';
import { toInteger } from '../../packages/lib/src/integers.ts';
import { differences, leftOut } from './differences.ts';
import { type Message, messageAt, parseTextProto, textAt } from './textproto.ts';

const directory = process.env.CEL_CONFORMANCE;

/** A value of the cases as the evaluator has it. */
function fromMessage(message: Message): unknown {
  const [[kind, values] = ['', []]] = Object.entries(message);
  const text = textAt(message, kind) ?? '';
  switch (kind) {
    case 'null_value':
      return null;
    case 'bool_value':
      return text === 'true';
    case 'int64_value':
      return toInteger(BigInt(text));
    case 'uint64_value':
      return new UInt(BigInt(text));
    case 'double_value':
      return boxDouble(/inf/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text));
    case 'string_value':
      return text;
    case 'bytes_value':
      return values[0];
    case 'type_value':
      return new TypeValue(text);
    case 'list_value':
      return (messageAt(message, kind)?.values ?? []).map((item) => fromMessage(item as Message));
    case 'map_value': {
      const map = new CelMap();
      for (const entry of messageAt(message, kind)?.entries ?? [])
        map.set(fromMessage(messageAt(entry as Message, 'key') as Message), fromMessage(messageAt(entry as Message, 'value') as Message));
      return map;
    }
    case 'object_value':
      return objectOf(messageAt(message, kind) as Message);
    default:
      throw new Error(`a value of kind ${kind}`);
  }
}
function objectOf(message: Message): unknown {
  const [[name] = ['']] = Object.entries(message);
  const inner = messageAt(message, name) as Message;
  const nanos = BigInt(textAt(inner, 'seconds') ?? 0) * 1_000_000_000n + BigInt(textAt(inner, 'nanos') ?? 0);
  if (name.endsWith('google.protobuf.Timestamp]')) return new Timestamp(nanos);
  if (name.endsWith('google.protobuf.Duration]')) return new Duration(nanos);
  throw new Error(`an object of ${name}`);
}

const primitives: Readonly<Record<string, CelType>> = {
  BOOL: { kind: 'bool' },
  INT64: { kind: 'int' },
  UINT64: { kind: 'uint' },
  DOUBLE: { kind: 'double' },
  STRING: { kind: 'string' },
  BYTES: { kind: 'bytes' },
};
function typeOf(message: Message | undefined): CelType {
  if (message === undefined) return DYN;
  const primitive = textAt(message, 'primitive');
  if (primitive !== undefined) return primitives[primitive] ?? DYN;
  const known = textAt(message, 'well_known');
  if (known === 'TIMESTAMP') return { kind: 'timestamp' };
  if (known === 'DURATION') return { kind: 'duration' };
  const list = messageAt(message, 'list_type');
  if (list !== undefined) return listOf(typeOf(messageAt(list, 'elem_type')));
  const map = messageAt(message, 'map_type');
  if (map !== undefined) return mapOf(typeOf(messageAt(map, 'key_type')), typeOf(messageAt(map, 'value_type')));
  const abstract = messageAt(message, 'abstract_type');
  if (abstract !== undefined && textAt(abstract, 'name') === 'optional_type')
    return optionalOf(typeOf(messageAt(abstract, 'parameter_types')));
  return DYN;
}

/** Of a case that is to be evaluated though its check fails: here nothing is. */
const UNCHECKED = 'not evaluated without a check';

/** What is wrong; undefined where nothing is. */
function run(item: Message): string | undefined {
  const expr = textAt(item, 'expr') ?? '';
  const types = (item.type_env ?? []).map((one) => one as Message);
  const variables = Object.fromEntries(
    types.map((one) => [textAt(one, 'name') ?? '', typeOf(messageAt(messageAt(one, 'ident') ?? {}, 'type'))]),
  );
  const values: Record<string, unknown> = {};
  for (const binding of (item.bindings ?? []) as Message[]) {
    const name = textAt(binding, 'key') ?? '';
    values[name] = fromMessage(messageAt(messageAt(binding, 'value') as Message, 'value') as Message);
    variables[name] ??= DYN;
  }
  const failed = item.eval_error !== undefined || item.any_eval_errors !== undefined;
  const wanted = messageAt(item, 'value') ?? messageAt(messageAt(item, 'typed_result') ?? {}, 'result');
  try {
    const program = compile(expr, variables);
    if (textAt(item, 'check_only') === 'true') return failed ? 'it compiles' : undefined;
    const got = program.evaluate(values, new CostBudget(1_000_000));
    if (failed) return `no error, but ${show(got)}`;
    const expected = wanted === undefined ? true : fromMessage(wanted);
    const result = program.type.kind === 'double' ? boxDouble(got as number) : got;
    const same = sameValue(result, expected);
    return same ? undefined : `${show(got)} instead of ${show(expected)}`;
  } catch (error) {
    if (!(error instanceof CelError || error instanceof CelRuntimeError)) throw error;
    // Without a check the error comes while it runs; with one it may come before.
    if (!failed && error instanceof CelError && textAt(item, 'disable_check') === 'true') return UNCHECKED;
    return failed ? undefined : error.message.split('\n')[0];
  }
}
function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number' && Number.isNaN(a)) return Number.isNaN(b);
  const value = a instanceof Optional ? a.value : a;
  const frame = new Frame({}, [], new CostBudget(1_000_000));
  const typeOfNumber = (one: unknown): string => (one === null ? 'null' : typeof one === 'object' ? one.constructor.name : typeof one);
  return equal(frame, value, b) && (/Map|Object|Buffer|Array/.test(typeOfNumber(b)) || typeOfNumber(value) === typeOfNumber(b));
}
const show = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined';

const files = directory === undefined ? [] : readdirSync(directory).filter((file) => file.endsWith('.textproto'));

test.skipIf(directory === undefined)('the directory that CEL_CONFORMANCE names has the public cases', () => {
  expect(files.length).toBeGreaterThan(20);
});

for (const file of files) {
  const name = file.replace('.textproto', '');
  const reason = leftOut[name];
  test.skipIf(reason !== undefined)(`${name}${reason === undefined ? '' : ` (left out: ${reason})`}`, () => {
    const suite = parseTextProto(readFileSync(join(directory as string, file), 'utf8'));
    let total = 0;
    let messages = 0;
    let unchecked = 0;
    const faults: string[] = [];
    for (const section of (suite.section ?? []) as Message[]) {
      for (const item of (section.test ?? []) as Message[]) {
        total++;
        const label = `${name}/${textAt(section, 'name')}/${textAt(item, 'name')}`;
        if (isLeftOut(item)) messages++;
        else {
          const fault = run(item);
          if (fault === UNCHECKED) unchecked++;
          else if (fault !== undefined) faults.push(`${label}: ${textAt(item, 'expr')} → ${fault}`);
        }
      }
    }
    const known = differences[name] ?? [];
    const unknown = faults.filter((fault) => !known.some(({ cases }) => cases.test(fault)));
    const tried = total - messages - unchecked;
    console.log(`${name}: ${tried - faults.length} of ${tried} pass; left out: ${messages} about messages, ${unchecked} without a check`);
    expect(unknown).toEqual([]);
  });
}

/** All texts of a case. */
function textsOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, part]) => `${key} ${textsOf(part)}`)
    .join(' ');
}
/** Messages of protobuf, and expressions that are to be evaluated without a check or without macros. */
function isLeftOut(item: Message): boolean {
  const text = textsOf(item);
  return (
    /TestAllTypes|GlobalEnum|message_type|enum_value/.test(text) ||
    /google\.protobuf\.(?!Timestamp\b|Duration\b)\w+|google\.protobuf\.\w+\s*\{/.test(text) ||
    item.unknown !== undefined ||
    textAt(item, 'disable_macros') === 'true'
  );
}
