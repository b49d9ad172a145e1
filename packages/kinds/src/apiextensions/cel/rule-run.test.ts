import { atOnce } from '@plat-dev/lib/slices';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { beforeAll, expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from '../values/custom-schema.ts';
import { loadEvaluation } from './load-evaluation.ts';

beforeAll(loadEvaluation);

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const rules = (...list: (string | object)[]): JSONSchemaProps => ({
  [x.validations]: list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
const integer = { type: 'integer' };
const string = { type: 'string' };
const obj = (properties: Record<string, JSONSchemaProps>, ...more: JSONSchemaProps[]): JSONSchemaProps =>
  Object.assign({ type: 'object', properties }, ...more);
const listOf = (items: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps => ({ type: 'array', items, ...more });
const compiled = (schema: JSONSchemaProps, byRules = true): CustomSchema =>
  atOnce(CustomSchema.compile(schema, false, kubernetes.schemaExtensionPrefix, 'example.v1.Thing', byRules));
const thing = (fields: JsonObject): ApiObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...fields }) as ApiObject;

/** Errors of a new object, or of an update where there is an old one. */
function faults(schema: CustomSchema | JSONSchemaProps, fields: JsonObject, old?: JsonObject): string[] {
  const rules = schema instanceof CustomSchema ? schema : compiled(schema);
  const errors = new FieldErrors();
  const work = old === undefined ? rules.validate(thing(fields), errors) : rules.validateUpdate(thing(fields), thing(old), errors);
  if (work !== undefined) atOnce(work);
  return errors.list.map(({ reason, field, message }) => `${reason} ${field}: ${message}`);
}
/** A kind whose spec has rules. */
const spec = (properties: Record<string, JSONSchemaProps>, ...list: (string | object)[]): JSONSchemaProps =>
  obj({ spec: obj(properties, rules(...list)) });

test('a rule that holds says nothing; one that does not is named, or its message', () => {
  const kind = compiled(spec({ n: integer, most: integer }, 'self.n <= self.most', { rule: 'self.n > 0', message: ' n is positive ' }));
  expect(faults(kind, { spec: { n: 1, most: 2 } })).toEqual([]);
  expect(faults(kind, { spec: { n: 0, most: -1 } })).toEqual([
    'FieldValueInvalid spec: Invalid value: "object": failed rule: self.n <= self.most',
    'FieldValueInvalid spec: Invalid value: "object": n is positive',
  ]);
  expect(faults(kind, {})).toEqual([]);
});

test('rules hold at every depth, for every item and value', () => {
  const kind = compiled(
    obj({
      list: listOf({ ...integer, ...rules('self > 0') }),
      map: { type: 'object', additionalProperties: { ...string, ...rules("self.startsWith('a')") } },
      deep: listOf(obj({ inner: obj({ n: integer }, rules('self.n == 1')) })),
    }),
  );
  expect(faults(kind, { list: [1, 0, 2, -1], map: { x: 'ab', 'y.z': 'b' }, deep: [{}, { inner: { n: 2 } }] })).toEqual([
    'FieldValueInvalid list[1]: Invalid value: "integer": failed rule: self > 0',
    'FieldValueInvalid list[3]: Invalid value: "integer": failed rule: self > 0',
    `FieldValueInvalid map[y.z]: Invalid value: "string": failed rule: self.startsWith('a')`,
    'FieldValueInvalid deep[1].inner: Invalid value: "object": failed rule: self.n == 1',
  ]);
});

test('a rule of the whole object reads its name and kind', () => {
  const kind = compiled(obj({ spec: obj({ name: string }) }, rules("self.metadata.name == self.spec.name && self.kind == 'Thing'")));
  expect(faults(kind, { spec: { name: 'a' } })).toEqual([]);
  expect(faults(kind, { spec: { name: 'b' } })).toEqual([
    expect.stringMatching(/^FieldValueInvalid <nil>: Invalid value: "object": failed rule: /),
  ]);
});

test('a rule with an old value runs on updates alone', () => {
  const kind = compiled(spec({ n: integer }, { rule: 'self.n >= oldSelf.n', message: 'n never shrinks' }));
  expect(faults(kind, { spec: { n: 1 } })).toEqual([]);
  expect(faults(kind, { spec: { n: 1 } }, {})).toEqual([]);
  expect(faults(kind, { spec: { n: 2 } }, { spec: { n: 1 } })).toEqual([]);
  expect(faults(kind, { spec: { n: 1 } }, { spec: { n: 2 } })).toEqual([
    'FieldValueInvalid spec: Invalid value: "object": n never shrinks',
  ]);
});

test('old items are found by their keys, whatever their order', () => {
  const item = obj({ k: string, port: integer, n: integer }, { required: ['k', 'port'] }, rules('self.n >= oldSelf.n'));
  const kind = compiled(obj({ list: listOf(item, { [x.listType]: 'map', [x.listMapKeys]: ['k', 'port'] }) }));
  const one = (k: string, port: number, n: number) => ({ k, port, n });
  const old = { list: [one('a', 1, 5), one('a', 2, 5), one('b', 1, 5)] };
  expect(faults(kind, { list: [one('b', 1, 5), one('c', 1, 0), one('a', 2, 6)] }, old)).toEqual([]);
  expect(faults(kind, { list: [one('b', 1, 5), one('a', 1, 4)] }, old)).toEqual([
    expect.stringContaining('list[1]: Invalid value: "object"'),
  ]);
});

test('with an optional old value a rule runs for new values too', () => {
  const kind = compiled(spec({ n: integer }, { rule: 'oldSelf.hasValue() || self.n == 0', optionalOldSelf: true, message: 'starts at 0' }));
  expect(faults(kind, { spec: { n: 0 } })).toEqual([]);
  expect(faults(kind, { spec: { n: 1 } })).toEqual([expect.stringContaining('starts at 0')]);
  expect(faults(kind, { spec: { n: 1 } }, { spec: { n: 0 } })).toEqual([]);
});

test('lists are compared and joined as the schema merges them', () => {
  const set = listOf(integer, { [x.listType]: 'set' });
  const map = listOf(obj({ k: string, n: integer }, { required: ['k'] }), { [x.listType]: 'map', [x.listMapKeys]: ['k'] });
  const same = (type: JSONSchemaProps) => compiled(spec({ a: type }, 'self.a == oldSelf.a'));
  const compared = (type: JSONSchemaProps, a: JsonValue, before: JsonValue) =>
    faults(same(type), { spec: { a } }, { spec: { a: before } }).length;
  expect([compared(listOf(integer), [1, 2], [2, 1]), compared(set, [1, 2], [2, 1]), compared(set, [1, 2], [1, 3])]).toEqual([1, 0, 1]);
  const [one, two, other] = [
    { k: 'a', n: 1 },
    { k: 'b', n: 2 },
    { k: 'b', n: 3 },
  ];
  expect([compared(map, [one, two], [two, one]), compared(map, [one, two], [other, one])]).toEqual([0, 1]);
  const joined = compiled(spec({ a: map }, 'size(self.a + oldSelf.a) == 2 && (self.a + oldSelf.a)[1].n == 3'));
  expect(faults(joined, { spec: { a: [one, two] } }, { spec: { a: [other] } })).toEqual([]);
});

test('values are read by the formats of the schema', () => {
  const kind = compiled(
    spec(
      {
        from: { ...string, format: 'date-time' },
        day: { ...string, format: 'date' },
        every: { ...string, format: 'duration' },
        data: { ...string, format: 'byte' },
        share: { type: 'number' },
      },
      "self.from < timestamp('2030-01-01T00:00:00Z')",
      'self.day.getFullYear() == 2024',
      "self.every >= duration('1m')",
      "self.data == b'abc'",
      'self.share == 1.0',
    ),
  );
  const good = { from: '2024-02-03T04:05:06Z', day: '2024-02-03', every: '90s', data: 'YWJj', share: 1 };
  expect(faults(kind, { spec: good })).toEqual([]);
  const bad = { from: '2031-02-03T04:05:06Z', day: '2023-02-03', every: '30s', data: 'YWJk', share: 1.5 };
  expect(faults(kind, { spec: bad })).toHaveLength(5);
});

test('a rule of a time reads it as one', () => {
  const kind = compiled(obj({ from: { ...string, format: 'date-time', ...rules('self.getFullYear() > 2020') } }));
  expect(faults(kind, { from: '2024-02-03T04:05:06Z' })).toEqual([]);
  expect(faults(kind, { from: '2019-02-03T04:05:06Z' })).toEqual([expect.stringContaining('from: Invalid value: "string": failed rule')]);
});

test('a field that is null is absent', () => {
  const kind = compiled(spec({ n: { ...integer, nullable: true } }, '!has(self.n) || self.n > 3'));
  expect(faults(kind, { spec: { n: null } })).toEqual([]);
  expect(faults(kind, { spec: { n: 3 } })).toHaveLength(1);
});

test('an expression makes the message, and the plain one is shown where it cannot', () => {
  const rule = (messageExpression: string) => ({ rule: 'self.n > 3', message: 'too few', messageExpression });
  const shown = (messageExpression: string) => faults(spec({ n: integer, s: string }, rule(messageExpression)), { spec: { n: 1 } });
  expect(shown("'n is ' + string(self.n)")).toEqual(['FieldValueInvalid spec: Invalid value: "object": n is 1']);
  for (const useless of ["' '", "'a\\nb'", 'self.s'])
    expect(shown(useless)).toEqual(['FieldValueInvalid spec: Invalid value: "object": too few']);
});

test('reason and field of the error are those of the rule', () => {
  const kind = spec(
    { n: integer, labels: { type: 'object', additionalProperties: string } },
    { rule: 'self.n > 3', reason: 'FieldValueRequired', fieldPath: '.n', message: 'more' },
    { rule: 'self.n > 4', reason: 'FieldValueForbidden', fieldPath: ".labels['a.b']" },
    { rule: 'self.n > 5', reason: 'FieldValueDuplicate' },
  );
  expect(faults(kind, { spec: { n: 1 } })).toEqual([
    'FieldValueRequired spec.n: Required value: more',
    'FieldValueForbidden spec.labels[a.b]: Forbidden: failed rule: self.n > 4',
    'FieldValueDuplicate spec: Duplicate value: "object"',
  ]);
});

test('an expression that fails is an error of the field', () => {
  const port = { [x.intOrString]: true };
  const kind = spec({ n: integer, port, list: listOf(integer) }, '1 / self.n == 1', 'self.port > 3', 'self.list[7] == 1');
  expect(faults(kind, { spec: { n: 0, port: 'http', list: [] } })).toEqual([
    'FieldValueInvalid spec: Invalid value: "object": division by zero evaluating rule: 1 / self.n == 1',
    `FieldValueInvalid spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.port > 3`,
    'FieldValueInvalid spec: Invalid value: "object": index out of bounds: 7 evaluating rule: self.list[7] == 1',
  ]);
});

test('a stored rule that does not compile is an error of the objects', () => {
  expect(faults(spec({ n: integer }, 'self.m > 3'), { spec: { n: 1 } })).toEqual([
    expect.stringContaining('spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5'),
  ]);
});

test('rules wait for values of the right types and sizes', () => {
  const kind = compiled(spec({ n: { ...integer, maximum: 9 }, s: { ...string, maxLength: 3 } }, 'self.n > 3'));
  const waiting =
    'FieldValueInvalid <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  expect(faults(kind, { spec: { n: 'x' } })).toEqual([expect.stringContaining('FieldValueTypeInvalid spec.n'), waiting]);
  expect(faults(kind, { spec: { n: 1, s: 'long' } })).toEqual([expect.stringContaining('FieldValueTooLong spec.s'), waiting]);
  // A number out of bounds is a number.
  expect(faults(kind, { spec: { n: 10 } })).toEqual([expect.stringContaining('spec.n: Invalid value: 10')]);
  expect(faults(compiled(spec({ n: { ...integer, minimum: 2 } }, 'self.n > 3')), { spec: { n: 1 } })).toHaveLength(2);
});

test('while the feature is off, stored rules are not enforced', () => {
  expect(faults(compiled(spec({ n: integer }, 'self.n > 3'), false), { spec: { n: 1 } })).toEqual([]);
});

test('one expression, and all of an object, cost so much at most', () => {
  const heavy = 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))';
  const kind = compiled(spec({ a: listOf(integer) }, heavy, 'self.a.size() == 0'));
  const many = (count: number) => ({ spec: { a: Array.from({ length: count }, (_, i) => i) } });
  expect(faults(kind, many(20))).toHaveLength(1);
  // What comes after it does not run.
  expect(faults(kind, many(300))).toEqual([
    `FieldValueInvalid spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${heavy}`,
  ]);
  const each = compiled(obj({ list: listOf({ ...string, ...rules("!self.contains('zzz')") }) }));
  const long = { list: Array.from({ length: 600 }, () => 'a'.repeat(100_000)) };
  expect(faults(each, long)).toEqual([
    expect.stringMatching(
      /^FieldValueInvalid list\[\d+\]: .*validation failed due to running out of cost budget, no further validation rules will be run$/,
    ),
  ]);
});

test('large objects are looked at in steps, small ones at once', () => {
  const kind = compiled(obj({ list: listOf({ ...integer, ...rules('self >= 0') }) }));
  const work = (count: number, errors = new FieldErrors()) =>
    kind.validate(thing({ list: Array.from({ length: count }, (_, i) => i - 1) }), errors);
  expect(work(100)).toBeUndefined();
  const errors = new FieldErrors();
  const rest = work(100_000, errors);
  let steps = 0;
  while (rest?.next().done === false) steps++;
  expect(steps).toBeGreaterThan(5);
  expect(errors.list.map(({ field }) => field)).toEqual(['list[0]']);
});
