import { atOnce, type Work } from '@plat-dev/lib/slices';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import { DecodeError } from '@plat-dev/schema/errors';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from './custom-schema.ts';
import { fitsOf } from './schema-match.ts';

const run = (work: Work<void> | undefined): void => {
  if (work !== undefined) atOnce(work);
};

const prefix = kubernetes.schemaExtensionPrefix;
const x = extensionNames(prefix);
const obj = (properties: Record<string, JSONSchemaProps> = {}, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties,
  ...more,
});
const string: JSONSchemaProps = { type: 'string' };
const integer: JSONSchemaProps = { type: 'integer' };
const custom = (schema: JSONSchemaProps): CustomSchema => atOnce(CustomSchema.compile(schema, false, prefix, 'example.v1.Thing'));
const thing = (fields: JsonObject): ApiObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...fields }) as ApiObject;

/** What is left of the fields once the schema has read them. */
function read(schema: JSONSchemaProps, fields: JsonObject): JsonObject {
  const object = thing(structuredClone(fields));
  const rules = custom(schema);
  rules.prune(object);
  rules.fillDefaults(object);
  const { apiVersion, kind, metadata, ...rest } = object as unknown as JsonObject;
  expect({ apiVersion, kind, metadata }).toEqual({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } });
  return rest;
}

function faults(schema: JSONSchemaProps, fields: JsonObject): string[] {
  const object = thing(structuredClone(fields));
  const rules = custom(schema);
  rules.prune(object);
  rules.fillDefaults(object);
  const errors = new FieldErrors();
  run(rules.validate(object, errors));
  return errors.list.map(({ reason, field, message }) => `${reason} ${field}: ${message}`);
}

// ---- pruning -----------------------------------------------------------------------------------------------------

const lamp = obj({
  spec: obj({
    watts: integer,
    parts: { type: 'array', items: obj({ n: string }) },
    tags: { type: 'object', additionalProperties: string },
  }),
});

test('fields outside the schema are dropped at every depth', () => {
  const spec: JsonObject = { watts: 1, nope: true, parts: [{ n: 'a', z: 1 }, {}], tags: { x: 'y' } };
  expect(read(lamp, { spec, extra: { a: 1 }, data: 'x' })).toEqual({ spec: { watts: 1, parts: [{ n: 'a' }, {}], tags: { x: 'y' } } });
});

test('dropped fields are reported to whoever asks', () => {
  const told: string[] = [];
  custom(lamp).prune(thing({ spec: { nope: 1, parts: [{}, { z: 1 }] }, extra: { a: 1 } }), { report: (path) => told.push(path) });
  expect(told).toEqual(['spec.nope', 'spec.parts[1].z', 'extra']);
});

test('preserved fields are kept, named ones inside are still pruned', () => {
  const keep = { [x.preserveUnknownFields]: true };
  const bag = obj({
    spec: obj({ known: obj({ a: string }), free: { type: 'object', ...keep } }, keep),
    any: keep,
    closed: { type: 'object' },
    list: { type: 'array', items: obj({ n: obj({ a: string }) }), ...keep },
  });
  const fields = {
    spec: { unknown: { deep: [1, 'a', null] }, known: { a: 'x', b: 'gone' }, free: { q: { r: 1 } } },
    any: ['x', { y: 1.5 }],
    closed: { z: 1 },
    list: [{ other: 1, n: { a: 'x', b: 'gone' } }],
    top: 'gone',
  };
  expect(read(bag, fields)).toEqual({
    spec: { unknown: { deep: [1, 'a', null] }, known: { a: 'x' }, free: { q: { r: 1 } } },
    any: ['x', { y: 1.5 }],
    closed: {},
    list: [{ other: 1, n: { a: 'x' } }],
  });
});

test('values of additional properties are kept, what lies within them only as far as a schema names it', () => {
  const schema = obj({ m: { type: 'object', additionalProperties: true } });
  expect(read(schema, { m: { a: 1, b: { c: 1 }, d: [{ e: 1 }, 'f'] } })).toEqual({ m: { a: 1, b: {}, d: [{}, 'f'] } });
});

test('a value of another type than the schema says loses what the schema does not name, and is refused', () => {
  expect(read(obj({ s: string }), { s: { a: 1 } })).toEqual({ s: {} });
  expect(faults(obj({ s: string }), { s: { a: 1 } })).toHaveLength(1);
});

test('a null goes where none may stand, unless it is an item of a list', () => {
  const schema = obj({
    port: { [x.intOrString]: true },
    maybe: { type: 'string', nullable: true },
    never: string,
    list: { type: 'array', items: string },
    map: { type: 'object', additionalProperties: string },
  });
  const fields = { port: null, maybe: null, never: null, list: [null], map: { a: null } };
  expect(read(schema, fields)).toEqual({ maybe: null, list: [null], map: {} });
});

test('who wants nulls refused keeps them', () => {
  const rules = custom(obj({ a: string, b: { ...string, default: 'x' } }));
  const object = thing({ a: null, b: null });
  rules.prune(object, { nulls: 'keep' });
  rules.fillDefaults(object);
  expect(object).toEqual(thing({ a: null, b: 'x' }));
  const errors = new FieldErrors();
  run(rules.validate(object, errors));
  expect(errors.list).toMatchObject([{ field: 'a', message: 'Invalid value: "null": a in body must be of type string: "null"' }]);
});

test('nothing is dropped where a definition keeps unknown fields, or has no schema', () => {
  for (const rules of [
    atOnce(CustomSchema.compile(lamp, true, prefix, 'T')),
    atOnce(CustomSchema.compile(undefined, false, prefix, 'T')),
  ]) {
    const object = thing({ spec: { nope: null }, more: 1 });
    rules.prune(object);
    expect(object).toEqual(thing({ spec: { nope: null }, more: 1 }));
  }
});

// ---- defaults ----------------------------------------------------------------------------------------------------

const fan = obj({
  spec: obj(
    {
      speed: { ...integer, default: 3 },
      mode: { ...string, default: 'auto', nullable: true },
      note: { ...string, default: 'n' },
      blades: { type: 'array', items: obj({ len: { ...integer, default: 7 } }) },
      env: { type: 'object', additionalProperties: obj({ v: { ...string, default: 'e' } }) },
      inner: obj({ x: { ...string, default: 'y' } }),
    },
    { default: {} },
  ),
  absent: obj({ x: { ...string, default: 'never' } }),
});

test('defaults are filled in at every depth, also into defaults', () => {
  expect(read(fan, {})).toEqual({ spec: { speed: 3, mode: 'auto', note: 'n' } });
  const spec: JsonObject = { speed: 0, mode: null, note: null, blades: [{}, { len: 1 }], env: { a: {}, b: { v: 'w' } }, inner: {} };
  expect(read(fan, { spec })).toEqual({
    spec: { speed: 0, mode: null, note: 'n', blades: [{ len: 7 }, { len: 1 }], env: { a: { v: 'e' }, b: { v: 'w' } }, inner: { x: 'y' } },
  });
});

test('no two objects share a default', () => {
  const rules = custom(obj({ spec: obj({ list: { type: 'array', items: string, default: ['a'] } }, { default: {} }) }));
  const [first, second] = [thing({}), thing({})];
  rules.fillDefaults(first);
  (first as unknown as { spec: { list: string[] } }).spec.list.push('b');
  rules.fillDefaults(second);
  expect(second).toEqual(thing({ spec: { list: ['a'] } }));
});

// ---- objects inside ----------------------------------------------------------------------------------------------

const box = obj({
  tmpl: obj({ spec: obj({ a: string }) }, { [x.embeddedResource]: true }),
  loose: { type: 'object', [x.embeddedResource]: true, [x.preserveUnknownFields]: true },
});

test('objects inside keep their type and well-formed metadata', () => {
  const tmpl = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { x: 'y' }, bogus: 1 },
    spec: { a: 'b', c: 'd' },
    status: {},
  };
  expect(read(box, { tmpl })).toEqual({
    tmpl: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { x: 'y' } }, spec: { a: 'b' } },
  });
});

test('objects inside say what they are', () => {
  expect(faults(box, { tmpl: { kind: 'Pod', spec: {} } })).toEqual([
    'FieldValueRequired tmpl.apiVersion: Required value: must not be empty',
  ]);
  expect(faults(box, { tmpl: { apiVersion: 'a/b/c', kind: 'Bad Kind' } })).toEqual([
    'FieldValueInvalid tmpl.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    expect.stringContaining(
      'FieldValueInvalid tmpl.kind: Invalid value: "Bad Kind": may have mixed case, but should otherwise match: a DNS-1035',
    ),
  ]);
  expect(faults(box, { loose: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Bad_Name' } } })).toEqual([]);
  expect(faults(box, { loose: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { 'bad key!': 'v' } } } })).toHaveLength(1);
});

test('metadata inside that cannot be read is refused, and what is stored loses it', () => {
  const loose = (): ApiObject => thing({ loose: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { x: 5 } } } });
  const rules = custom(box);
  expect(() => rules.prune(loose())).toThrow(
    new DecodeError(
      'loose.metadata: Invalid value: map[string]interface {}{"labels":map[string]interface {}{"x":5}, "name":"p"}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ),
  );
  const stored = loose();
  rules.prune(stored, { broken: 'drop' });
  expect(stored).toEqual(thing({ loose: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } }));
});

// ---- lists -------------------------------------------------------------------------------------------------------

const lists = obj({
  spec: obj({
    set: { type: 'array', items: string, [x.listType]: 'set' },
    map: {
      type: 'array',
      items: obj({ k: string, n: { ...integer, default: 1 }, v: string }, { required: ['k'] }),
      [x.listType]: 'map',
      [x.listMapKeys]: ['k', 'n'],
    },
  }),
});

test('sets and keyed lists hold no duplicates', () => {
  const cases: [JsonObject, string[]][] = [
    [{ set: ['a', 'b', 'a', 'b'] }, ['spec.set[2]: Duplicate value: "a"', 'spec.set[3]: Duplicate value: "b"']],
    [{ set: ['a', 'a', 'a'] }, ['spec.set[1]: Duplicate value: "a"']],
    [{ map: [{ k: 'a', n: 1 }, { k: 'a' }] }, ['spec.map[1]: Duplicate value: map[string]interface {}{"k":"a", "n":1}']],
    [
      {
        map: [
          { k: 'a', n: 1 },
          { k: 'a', n: 2 },
        ],
      },
      [],
    ],
  ];
  for (const [spec, texts] of cases) expect(faults(lists, { spec })).toEqual(texts.map((text) => `FieldValueDuplicate ${text}`));
});

test('an update may leave duplicates that were there', () => {
  const rules = custom(lists);
  const faulty = thing({ spec: { set: ['a', 'a'] } });
  const told = (old: ApiObject): number => {
    const errors = new FieldErrors();
    run(rules.validateUpdate(faulty, old, errors));
    return errors.list.length;
  };
  expect(told(thing({ spec: { set: ['a'] } }))).toBe(1);
  expect(told(thing({ spec: { set: ['b', 'b'] } }))).toBe(0);
});

test('a schema is compiled in steps: each part that is more than a plain value may be followed by a pause', () => {
  const stepsOf = (count: number): number => {
    const properties: Record<string, JSONSchemaProps> = {};
    for (let i = 0; i < count; i++) properties[`p${i}`] = obj({ a: string });
    let steps = 0;
    const work = CustomSchema.compile(obj(properties), false, prefix, 'example.v1.Thing');
    while (work.next().done !== true) steps++;
    return steps;
  };
  // Of its fields, of its parts, of its checks, of its structure, of its rules.
  expect(stepsOf(1000) - stepsOf(0)).toBe(5 * 1000);
});

test('fields of a type alone share what is compiled for them', () => {
  const plain = fitsOf({ type: 'string', description: 'a' }, x);
  expect(fitsOf({ type: 'string', default: 'b' }, x)).toBe(plain);
  for (const more of [{ maxLength: 1 }, { nullable: true }, { enum: ['a'] }, { [x.intOrString]: true }])
    expect(fitsOf({ type: 'string', ...more }, x)).not.toBe(plain);
  expect(['a', '', 1, null, true, [], {}].map((value) => plain(value as JsonValue))).toEqual([true, true, ...Array(5).fill(false)]);
});

test('long keyed lists are looked at in steps', () => {
  const items: JSONSchemaProps = { type: 'object', properties: { name: { type: 'string' } } };
  const keyed = { [`${prefix}list-type`]: 'map', [`${prefix}list-map-keys`]: ['name'] };
  const rules = custom({ type: 'object', properties: { rows: { type: 'array', items, ...keyed } } });
  const rows = Array.from({ length: 5000 }, (_, i) => ({ name: `n${i === 4999 ? 0 : i}` }));
  const errors = new FieldErrors();
  const work = rules.validate(thing({ rows }), errors) as Work<void>;
  let steps = 0;
  while (work.next().done !== true) steps++;
  expect(steps).toBeGreaterThan(5);
  expect(errors.list.map(({ field }) => field)).toEqual(['rows[4999]']);
});
