/** Values with integers of 64 bits come back from every form and every patch as they were. */
import { describe, expect, test } from 'vitest';
import { goJson } from '../../packages/cli/src/output/go-json.ts';
import { type Integer, toInteger } from '../../packages/lib/src/integers.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { atOnce } from '../../packages/lib/src/slices.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { readJsonPatch } from '../../packages/patch/src/json-patch.ts';
import { readMergePatch } from '../../packages/patch/src/merge-patch.ts';
import { readStrategicPatch } from '../../packages/patch/src/strategic.ts';
import { indentJson } from '../../packages/schema/src/json/indent.ts';
import { cloneJson, decode, decodedValue, encode, encodeBytes, encodedBytes } from '../../packages/schema/src/json/index.ts';
import { isNormal } from '../../packages/schema/src/json/normal-form.ts';
import { parsedJson, parseExact, parseJson } from '../../packages/schema/src/json/parse.ts';
import { JsonParser } from '../../packages/schema/src/json/parser.ts';
import { toJson } from '../../packages/schema/src/json/to-json.ts';
import { decodeProtobuf, encodeProtobuf } from '../../packages/schema/src/protobuf/index.ts';
import { int64, type JsonValue, json, list, map, object, opt, ptr } from '../../packages/schema/src/types.ts';
import { editYaml } from '../../packages/schema/src/yaml/edit.ts';
import { parseYaml, parseYamlDocuments, stringifyYaml, yamlBytes } from '../../packages/schema/src/yaml/index.ts';

const POWERS = [2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n];
/** Integers near the bounds of their forms, and any others. */
const integers: fc.Arbitrary<Integer> = fc
  .oneof(
    fc.tuple(fc.constantFrom(...POWERS), fc.bigInt({ min: -2n, max: 2n }), fc.boolean()).map(([power, offset, negative]) => {
      const near = power + offset;
      return BigInt.asIntN(64, negative ? -near : near);
    }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  )
  .map(toInteger);
const scalars = fc.oneof(integers, integers, fc.integer(), fc.string(), fc.constantFrom('9223372036854775807', true, null, 0.5, 1.25e-7));
const values = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 6 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ) as fc.Arbitrary<JsonValue>,
})).value;
const trees = fc.dictionary(fc.string({ maxLength: 6 }), values, { noNullPrototype: true }) as fc.Arbitrary<{ [key: string]: JsonValue }>;

const Item = object('example.v1.Thing', {
  count: ptr(1, int64),
  counts: opt(2, list(int64)),
  byName: opt(3, map(int64)),
  value: ptr(4, json),
});
const items = fc.record(
  {
    count: integers,
    counts: fc.array(integers, { minLength: 1 }),
    byName: fc.dictionary(fc.constantFrom('a', 'b', 'c'), integers, { minKeys: 1, noNullPrototype: true }),
    value: trees,
  },
  { requiredKeys: [] },
);
const Custom = object('example.v1.Custom', {}, { unknown: 'keep' });

const numRuns = rounds(300);
const each = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void): void => fc.assert(fc.property(arbitrary, check), { numRuns });

describe('text', () => {
  test('JSON, by each parser', () =>
    each(values, (value) => {
      const text = jsonText(value);
      expect(parseExact(text)).toEqual(value);
      expect(parseJson(text)).toEqual(value);
      expect(parseJson(Buffer.from(text), { merge: true })).toEqual(value);
      expect(atOnce(parsedJson(Buffer.from(text)))).toEqual(value);
      expect(atOnce(new JsonParser(text, {}).value())).toEqual(value);
      expect(parseExact(jsonText(value, 2))).toEqual(value);
      expect(parseExact(goJson(value, 4))).toEqual(value);
      expect(indentJson(Buffer.from(text)).toString().trimEnd()).toBe(jsonText(value, 2));
      expect(cloneJson(value)).toEqual(value);
    }));

  test('YAML, written at once, in steps, and by an edit', () =>
    each(trees, (value) => {
      const text = stringifyYaml(value);
      expect(parseYaml(text)).toEqual(value);
      expect(atOnce(yamlBytes(value)).toString()).toBe(text);
      expect(parseYamlDocuments(editYaml('a: 1 # one\n', [value]).text)).toEqual([value]);
    }));
});

describe('objects', () => {
  test('of a built-in kind, in JSON and in the binary form', () =>
    each(items, (given) => {
      const value = decode(Item, parseExact(jsonText(given)));
      expect(decode(Item, parseExact(encode(Item, value)))).toEqual(value);
      expect(atOnce(encodedBytes(Item, value))).toEqual(encodeBytes(Item, value));
      expect(atOnce(decodedValue(Item, parseExact(encode(Item, value))))).toEqual(value);
      expect(toJson(Item, value)).toEqual(parseExact(encode(Item, value)));
      expect(decodeProtobuf(Item, encodeProtobuf(Item, value))).toEqual(value);
      expect(isNormal(Item, value)).toBe(true);
    }));

  test('of a custom kind', () =>
    each(trees, (given) => {
      const { kind: _, apiVersion: __, ...value } = given;
      const text = encode(Custom, value);
      expect(decode(Custom, parseExact(text))).toEqual(value);
      expect(atOnce(encodedBytes(Custom, value)).toString()).toBe(text);
    }));
});

describe('patches', () => {
  const base: JsonValue = { count: 1, kept: 9007199254740993n };

  test('a JSON patch adds, tests, copies and moves the value', () =>
    each(values, (value) => {
      const text = (operations: readonly object[]): string => jsonText(operations);
      const patch = readJsonPatch(
        text([
          { op: 'test', path: '/kept', value: 9007199254740993n },
          { op: 'add', path: '/added', value },
          { op: 'test', path: '/added', value },
          { op: 'copy', from: '/added', path: '/copied' },
          { op: 'move', from: '/added', path: '/moved' },
        ]),
      );
      expect(patch(base)).toEqual({ ...base, copied: value, moved: value });
    }));

  test('a merge patch sets the value', () =>
    each(values, (value) => {
      if (value === null) return;
      const patch = readMergePatch(jsonText({ list: [value], count: 9223372036854775807n }));
      expect(patch(base)).toEqual({ count: 9223372036854775807n, kept: 9007199254740993n, list: [value] });
    }));

  test('a strategic merge patch sets the value', () =>
    each(integers, (value) => {
      const patch = readStrategicPatch(Item, jsonText({ count: value, counts: [value], byName: { a: value } }));
      expect(patch({ byName: { b: 9007199254740993n } })).toEqual({
        count: value,
        counts: [value],
        byName: { a: value, b: 9007199254740993n },
      });
    }));
});
