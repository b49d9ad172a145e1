import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { hasFormat } from './formats.ts';
import { nodeOf } from './node.ts';
import { hasUnknownFields } from './prune.ts';
import { validateValue } from './validate.ts';

const x = extensionNames('x-kubernetes-');

function errorsOf(value: JsonValue, schema: JSONSchemaProps): string[] {
  const errors = new FieldErrors();
  validateValue(value, schema, x, Path.of('default'), errors);
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
}

test.each<[JsonValue, JSONSchemaProps, string[]]>([
  [1, { type: 'string' }, ['default: Invalid value: "integer":  in body must be of type string: "integer"']],
  [1.5, { type: 'integer' }, ['default: Invalid value: "number":  in body must be of type integer: "number"']],
  [null, { type: 'string', nullable: true }, []],
  [null, { type: 'string' }, ['default: Invalid value: "null":  in body must be of type string: "null"']],
  [1.5, { 'x-kubernetes-int-or-string': true }, ['default: Invalid value: "number":  in body must be of type integer,string: "number"']],
  ['c', { type: 'string', enum: ['a', 'b'] }, ['default: Unsupported value: "c": supported values: "a", "b"']],
  ['éé', { type: 'string', maxLength: 2, minLength: 2 }, []],
  [
    'abc',
    { type: 'string', maxLength: 2, pattern: '^x' },
    ['default: Too long: may not be longer than 2', 'default: Invalid value: "abc":  in body should match \'^x\''],
  ],
  [
    1,
    { type: 'integer', minimum: 2, multipleOf: 2 },
    [
      'default: Invalid value: 1:  in body should be a multiple of 2',
      'default: Invalid value: 1:  in body should be greater than or equal to 2',
    ],
  ],
  [2, { type: 'number', maximum: 2.5, exclusiveMaximum: true }, ['default: Invalid value: 2:  in body should be less than 2']],
  [0.3, { type: 'number', multipleOf: 0.1 }, []],
  [
    [1, 'x'],
    { type: 'array', items: { type: 'integer' }, maxItems: 1 },
    [
      'default.[1]: Invalid value: "string": [1] in body must be of type integer: "string"',
      'default: Too many: 2: must have at most 1 items',
    ],
  ],
  [
    { a: { b: 1 } },
    { type: 'object', required: ['c'], properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
    ['default.a.b: Invalid value: "integer": a.b in body must be of type string: "integer"', 'default.c: Required value'],
  ],
  [
    { m: 9 },
    { type: 'object', additionalProperties: { type: 'integer', maximum: 3 } },
    ['default.m: Invalid value: 9: .m in body should be less than or equal to 3'],
  ],
  [
    5,
    { anyOf: [{ minimum: 10 }, { maximum: 2 }] },
    [
      '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
      'default: Invalid value: 5:  in body should be greater than or equal to 10',
    ],
  ],
  [
    5,
    { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    ['<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [
    'x',
    { allOf: [{ minLength: 3 }] },
    [
      'default: Invalid value: "x":  in body should be at least 3 chars long',
      '<nil>: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    ],
  ],
  ['root', { not: { enum: ['root'] } }, ['<nil>: Invalid value: "": "" must not validate the schema (not)']],
])('%j under %j', (value, schema, texts) => {
  expect(errorsOf(value, schema)).toEqual(texts);
});

test.each<[string, string[], string[]]>([
  ['date-time', ['2022-01-02T03:04:05Z', '2022-01-02t03:04:05.5+01:00'], ['2022-01-02 03:04:05', '2022-13-02T03:04:05Z', 'soon']],
  ['date', ['2024-02-29'], ['2022-02-30', '2022-1-1']],
  ['duration', ['1h30m', '3 days', '0'], ['an hour', '5']],
  ['ipv4', ['10.0.0.1'], ['10.0.0.256', '::1']],
  ['ipv6', ['::1'], ['10.0.0.1']],
  ['cidr', ['10.0.0.0/8'], ['10.0.0.0']],
  ['mac', ['01:23:45:67:89:ab'], ['xx']],
  ['uuid4', ['57b73598-8764-4ad0-a76a-679bb6640eb1'], ['57b73598-8764-3ad0-a76a-679bb6640eb1']],
  [
    'byte',
    ['YQ==', 'YWI=', 'YWJj', '', 'YWJj'.repeat(1_000_000)],
    ['%%%', 'YQ=', 'Y===', '====', 'Y=Q=', 'YQ', `${'YWJj'.repeat(1_000_000)}YQ`],
  ],
  ['hexcolor', ['#fff', '00ff00'], ['white']],
  ['isbn', ['0-306-40615-2', '978-3-16-148410-0'], ['1', '978-3-16-148410-1']],
  ['creditcard', ['4111 1111 1111 1111', '4111111111111111'.padEnd(4096)], ['4111 1111 1111 1112', '4111111111111111'.padEnd(4097)]],
  ['email', ['a@b.example'], ['nobody']],
  ['uri', ['https://a.example/x', '/path', `data:,${'x'.repeat(100_000)}`], ['not a uri']],
  ['hostname', ['a.example'], ['-bad-.']],
  ['unheard-of', ['anything'], []],
])('the format %s', (format, good, bad) => {
  for (const text of good) expect(hasFormat(format, text), text).toBe(true);
  for (const text of bad) expect(hasFormat(format, text), text).toBe(false);
});

test('fields that a schema does not name are unknown', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
      open: { type: 'object', [x.preserveUnknownFields]: true, properties: { known: { type: 'object', properties: {} } } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { v: { type: 'string' } } } },
      resource: { type: 'object', [x.embeddedResource]: true, properties: { spec: { type: 'object' } } },
    },
  };
  const known: JsonValue[] = [
    { a: 'x' },
    { list: [{ k: 'x' }] },
    { open: { z: 1 } },
    { map: { any: { v: 'x' } } },
    { resource: { apiVersion: 'v1', kind: 'K', metadata: { name: 'x' } } },
  ];
  const unknown: JsonValue[] = [
    { z: 1 },
    { list: [{ z: 1 }] },
    { open: { known: { z: 1 } } },
    { map: { any: { z: 1 } } },
    { resource: { z: 1 } },
  ];
  for (const value of known) expect(hasUnknownFields(atOnce(nodeOf(schema, x)), value), jsonText(value)).toBe(false);
  for (const value of unknown) expect(hasUnknownFields(atOnce(nodeOf(schema, x)), value), jsonText(value)).toBe(true);
});
