/** What rules of custom resources do from 1.25 on: limits as in a stock server, values in errors, errors of unchanged values. */
import { atOnce } from '@plat-dev/lib/slices';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { beforeAll, expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from '../values/custom-schema.ts';
import { loadEvaluation } from './load-evaluation.ts';
import { validateRules } from './rule-checks.ts';

beforeAll(loadEvaluation);

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const rules = (...list: (string | object)[]): JSONSchemaProps =>
  ({ [x.validations]: list.map((rule) => (typeof rule === 'string' ? { rule } : rule)) }) as JSONSchemaProps;
const text = (maxLength?: number, ...list: (string | object)[]): JSONSchemaProps => ({
  ...{ type: 'string', ...(maxLength !== undefined && { maxLength }) },
  ...(list.length > 0 && rules(...list)),
});
const spec = (properties: Record<string, JSONSchemaProps>, ...list: (string | object)[]): JSONSchemaProps => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...rules(...list) } },
});
const thing = (fields: JsonObject): ApiObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: fields }) as unknown as ApiObject;

interface Outcome {
  readonly errors: string[];
  readonly warnings: string[];
}
function outcome(schema: JSONSchemaProps, release: string, fields: JsonObject, old?: JsonObject): Outcome {
  const kind = atOnce(CustomSchema.compile(schema, false, kubernetes.schemaExtensionPrefix, 'example.v1.Thing', true, release));
  const errors = new FieldErrors();
  const warnings: string[] = [];
  const work =
    old === undefined
      ? kind.validate(thing(fields), errors)
      : kind.validateUpdate(thing(fields), thing(old), errors, (warning) => warnings.push(warning));
  if (work !== undefined) atOnce(work);
  return { errors: errors.list.map(({ field, message }) => `${field}: ${message}`), warnings };
}
const errorsOf = (schema: JSONSchemaProps, release: string, fields: JsonObject, old?: JsonObject): string[] =>
  outcome(schema, release, fields, old).errors;

test('errors name the type of a value, and from 1.35 on the value itself unless it is an object or a list', () => {
  const schema = spec(
    { n: { type: 'integer', ...rules('self > 3') }, s: text(9, { rule: "self != 'x'", reason: 'FieldValueDuplicate' }) },
    'false',
  );
  const type = ['"object": ', '"integer": ', '"string"'];
  for (const [release, [object, integer, string]] of [
    ['1.34', type],
    ['1.35', ['', '1: ', '"x"']],
  ] as const)
    expect(errorsOf(schema, release, { n: 1, s: 'x' })).toEqual([
      `spec: Invalid value: ${object}failed rule: false`,
      `spec.n: Invalid value: ${integer}failed rule: self > 3`,
      `spec.s: Duplicate value: ${string}`,
    ]);
});
test('an expression that costs a million ends there, one of a little less does not', () => {
  const schema = spec({ l: { type: 'array', items: { type: 'integer' } } }, 'self.l.all(x, self.l.all(y, x + y > -1))');
  const ofLength = (length: number): string[] => errorsOf(schema, '1.36', { l: Array.from({ length }, () => 1) });
  // Seven units a round of the inner macro, and six one of the outer.
  expect(ofLength(375)).toEqual([]);
  expect(ofLength(385)[0]).toContain("'operation cancelled: actual cost limit exceeded': no further validation rules will be run");
});

test('from 1.30 on errors of a schema at values that an update leaves as they are count no more', () => {
  const schema = spec({
    a: text(3),
    m: { type: 'object', additionalProperties: text(3) },
    l: { type: 'array', items: text(3) },
    o: { type: 'object', required: ['needed'], properties: { needed: text(), x: text() } },
  } as Record<string, JSONSchemaProps>);
  const old = { a: 'toolong', m: { k: 'longvalue' }, l: ['longitem'], o: { x: '1' } };
  const tooLong = 'Too long: may not be longer than 3';
  const fields = (next: JsonObject): string[] =>
    errorsOf(schema, '1.30', { ...old, ...next }, old).filter((error) => !error.includes('some validation rules'));
  expect(errorsOf(schema, '1.29', old, old)).toContain(`spec.a: ${tooLong}`);
  expect(fields({})).toEqual([]);
  expect(fields({ a: 'toolong2' })).toEqual([`spec.a: ${tooLong}`]);
  expect(fields({ m: { k: 'longvalue', n: 'new long' } })).toEqual([`spec.m.n: ${tooLong}`]);
  // Items of such a list belong to no old ones.
  expect(fields({ l: ['longitem', 'abc'] })).toEqual([`spec.l[0]: ${tooLong}`]);
  expect(fields({ o: { x: '2' } })).toEqual(['spec.o.needed: Required value']);
});
test('items of lists with keys are compared with the old ones of the same keys', () => {
  const items = {
    type: 'object',
    properties: { name: text(9), value: text(9, { rule: "self != 'bad'", message: 'bad value' }) },
    ...rules({ rule: "self.name != 'two' || self.value == 'fine'", message: 'two must be fine' }),
  } as JSONSchemaProps;
  const list = { type: 'array', items, [x.listType]: 'map', [x.listMapKeys]: ['name'] } as unknown as JSONSchemaProps;
  const schema = spec({ items: list, x: text() });
  const item = (name: string, value: string): JsonObject => ({ name, value });
  const old = { items: [item('one', 'bad'), item('two', 'ok')], x: '1' };
  const update = (...next: JsonObject[]): Outcome => outcome(schema, '1.36', { items: next, x: '2' }, old);
  const two = 'Invalid value: two must be fine';
  const bad = 'Invalid value: "bad": bad value';
  expect(update(item('two', 'ok'), item('one', 'bad'))).toEqual({
    errors: [],
    warnings: [`spec.items[0]: ${two}`, `spec.items[1].value: ${bad}`],
  });
  expect(update(item('two', 'bad'), item('one', 'bad'))).toEqual({
    errors: [`spec.items[0]: ${two}`, `spec.items[0].value: ${bad}`],
    warnings: [`spec.items[1].value: ${bad}`],
  });
  expect(update(item('three', 'bad')).errors).toEqual([`spec.items[0].value: ${bad}`]);
});
test('rules that look at the old value are not let off', () => {
  const schema = spec({ n: { type: 'integer', ...rules('self > oldSelf') }, x: text() });
  expect(outcome(schema, '1.36', { n: 1, x: 'b' }, { n: 1, x: 'a' })).toEqual({
    errors: ['spec.n: Invalid value: 1: failed rule: self > oldSelf'],
    warnings: [],
  });
});

function definitionErrors(schema: JSONSchemaProps, release: string, ...storedTexts: string[]): string[] {
  const errors = new FieldErrors();
  atOnce(validateRules(schema, Path.of('schema'), { release, storedTexts: new Set(storedTexts) }, x, errors));
  return errors.list.map(({ message }) => message);
}
test('a new rule may use what the release before has, a stored one what the release has', () => {
  const rule = 'self.sort() == self';
  const schema = spec({ l: { type: 'array', maxItems: 5, items: { type: 'integer' }, ...rules(rule) } });
  expect(definitionErrors(schema, '1.35')).toEqual([]);
  expect(definitionErrors(schema, '1.34', rule)).toEqual([]);
  expect(definitionErrors(schema, '1.34')[0]).toContain("undeclared reference to 'sort'");
});
test('a message made of a number has no known size, one of a bounded text has', () => {
  const message = (schema: JSONSchemaProps, messageExpression: string): JSONSchemaProps =>
    spec({ v: { ...schema, ...rules({ rule: 'self == self', messageExpression }) } });
  expect(definitionErrors(message({ type: 'integer' }, "'got ' + string(self)"), '1.36')[0]).toContain(
    'estimated messageExpression cost exceeds budget by factor of more than 100x',
  );
  expect(definitionErrors(message({ type: 'integer' }, "'got ' + string(self)"), '1.24')).toEqual([]);
  expect(definitionErrors(message(text(20), "'got ' + self"), '1.36')).toEqual([]);
  expect(definitionErrors(message(text(), "'got ' + self"), '1.36')).toEqual([]);
});
test('formats have names, and errors that a message can show', () => {
  const format = '!format.dns1123Label().validate(self).hasValue()';
  const schema = spec({
    a: text(60, { rule: format, messageExpression: "format.dns1123Label().validate(self).orValue(['fine'])[0]" }),
    b: text(60, "!format.named('uuid').value().validate(self).hasValue() && !format.named('nothing').hasValue()"),
  });
  expect(definitionErrors(schema, '1.36')).toEqual([]);
  expect(errorsOf(schema, '1.36', { a: 'good', b: '123e4567-e89b-12d3-a456-426614174000' })).toEqual([]);
  expect(errorsOf(schema, '1.36', { a: 'Bad_' })[0]).toMatch(/^spec\.a: Invalid value: "Bad_": a lowercase RFC 1123 label must consist of/);
});
