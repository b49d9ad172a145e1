/** Ownership and apply of custom objects, whose values are kept as they came and need not be what their schema says. */

import { extensionNames, type JSONSchemaProps } from '@plat-dev/kinds/apiextensions/schema/json-schema';
import { structureOf } from '@plat-dev/kinds/apiextensions/structure';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { atOnce } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { type JsonObject, type MessageType, object, opt } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { History } from './history.testing.ts';
import type { Values } from './shape.ts';

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const string: JSONSchemaProps = { type: 'string' };
const obj = (properties: Record<string, JSONSchemaProps> = {}, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties,
  ...more,
});
const listOf = (items: JSONSchemaProps, type?: string, keys?: string[]): JSONSchemaProps => ({
  type: 'array',
  items,
  ...(type !== undefined && { [x.listType]: type }),
  ...(keys !== undefined && { [x.listMapKeys]: keys }),
});
const keeps = { [x.preserveUnknownFields]: true };

function typeOf(schema: JSONSchemaProps): MessageType {
  const structure = atOnce(structureOf(schema, x, 'example.v1.Crate', false));
  return object('example.v1.Crate', { metadata: opt(0, ObjectMeta) }, { unknown: 'keep', structure });
}

const crate = typeOf(
  obj({
    spec: obj({
      lid: string,
      size: { type: 'integer' },
      plain: listOf(obj({ name: string, v: string })),
      set: listOf(string, 'set'),
      atom: listOf(string, 'atomic'),
      map: listOf(obj({ name: string, v: string, w: string }, { required: ['name'] }), 'map', ['name']),
      two: listOf(obj({ port: { type: 'integer' }, proto: { ...string, default: 'TCP' }, v: string }), 'map', ['port', 'proto']),
      whole: obj({ a: string, b: string }, { [x.mapType]: 'atomic' }),
      parts: obj({ a: string, b: string }),
      dict: { type: 'object', additionalProperties: string },
      free: { type: 'object', ...keeps },
      any: keeps,
      port: { [x.intOrString]: true },
      when: { type: 'string', format: 'date-time' },
      inside: { type: 'object', [x.embeddedResource]: true, ...keeps },
    }),
    status: obj({ ok: { type: 'boolean' } }),
  }),
);

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  throw new Error('was not refused');
}

test('an applier owns by list and map type', () => {
  const spec = {
    lid: 'x',
    plain: [{ name: 'p', v: '1' }],
    set: ['a', 'b'],
    atom: ['q'],
    map: [{ name: 'm', v: '1' }],
    two: [{ port: 80, v: 'x' }],
    whole: { a: '1' },
    parts: { a: '1' },
    dict: { k: '1' },
    free: { deep: { er: 1 }, l: [1] },
    any: { deep: { er: 1 } },
    port: '50%',
  };
  expect(new History(crate).apply('ann', { spec }).owners).toEqual({
    ann: {
      'f:spec': {
        'f:lid': {},
        'f:plain': {},
        'f:set': { 'v:"a"': {}, 'v:"b"': {} },
        'f:atom': {},
        'f:map': { 'k:{"name":"m"}': { '.': {}, 'f:name': {}, 'f:v': {} } },
        'f:two': { 'k:{"port":80,"proto":"TCP"}': { '.': {}, 'f:port': {}, 'f:v': {} } },
        'f:whole': {},
        'f:parts': { 'f:a': {} },
        'f:dict': { 'f:k': {} },
        'f:free': { 'f:deep': { '.': {}, 'f:er': {} }, 'f:l': {} },
        'f:any': { 'f:deep': { '.': {}, 'f:er': {} } },
        'f:port': {},
      },
    },
  });
});

test('an updater owns the metadata of an object inside, which has no time of creation', () => {
  const history = new History(crate).write('cli', {
    spec: { inside: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, more: { a: 1 } } },
  });
  expect(history.owners).toEqual({
    cli: {
      'f:spec': {
        '.': {},
        'f:inside': {
          '.': {},
          'f:apiVersion': {},
          'f:kind': {},
          'f:metadata': { '.': {}, 'f:name': {} },
          'f:more': { '.': {}, 'f:a': {} },
        },
      },
    },
  });
});

test('appliers share sets and keyed lists', () => {
  const history = new History(crate).apply('ann', { spec: { set: ['a'], map: [{ name: 'm', v: '1' }], parts: { a: '1' } } }).apply('ben', {
    spec: {
      set: ['b'],
      map: [
        { name: 'm', w: '2' },
        { name: 'n', v: '3' },
      ],
      parts: { b: '2' },
    },
  });
  expect(history.content).toEqual({
    spec: {
      set: ['a', 'b'],
      map: [
        { name: 'm', v: '1', w: '2' },
        { name: 'n', v: '3' },
      ],
      parts: { a: '1', b: '2' },
    },
  });
  expect(history.apply('ann', { spec: { set: ['c'] } }).content).toEqual({
    spec: {
      set: ['b', 'c'],
      map: [
        { name: 'm', w: '2' },
        { name: 'n', v: '3' },
      ],
      parts: { b: '2' },
    },
  });
});

const refused = 'failed to create typed patch object (/box; /v1, Kind=Crate): ';
test.each<[string, Values]>([
  ['.spec.nope: field not declared in schema', { spec: { nope: 1 } }],
  ['.other: field not declared in schema', { other: 1 }],
  ['.spec.size: expected numeric (int or float), got string', { spec: { size: 'x' } }],
  ['.spec.lid: expected string, got number', { spec: { lid: 3 } }],
  ['.spec.map: expected list, got map', { spec: { map: { name: 'm' } } }],
  ['.status.ok: expected boolean, got string', { status: { ok: 'yes' } }],
  ['.spec.when: expected any scalar, got list', { spec: { when: [] } }],
  ['.spec.dict.k: expected string, got number', { spec: { dict: { k: 1 } } }],
  ['.spec.two: duplicate entries for key [port=80,proto="TCP"]', { spec: { two: [{ port: 80 }, { port: 80, proto: 'TCP' }] } }],
  [
    '.spec.two: element 0: associative list with keys has an element that omits key field "port" (and doesn\'t have default value)',
    { spec: { two: [{ v: 'no key' }] } },
  ],
  ['.spec.set: duplicate entries for key [="a"]', { spec: { set: ['a', 'a'] } }],
])('refuses to apply: %s', (problem, body) => {
  expect(refusal(() => new History(crate).apply('ann', body))).toBe(refused + problem);
});

test('values that only validation refuses, and nulls, are no fault of an applier', () => {
  const spec = { port: [5], any: [{}], size: null, when: 5, free: { a: null } };
  expect(new History(crate).apply('ann', { spec }).content).toEqual({ spec });
});

test('where unknown fields are kept, everything is owned by its keys and lists are owned whole', () => {
  const history = new History(typeOf({ type: 'object', ...keeps }));
  history.apply('ann', { spec: { l: [{ name: 'a' }], m: { x: 1 } } }).apply('ben', { spec: { m: { y: 2 } } });
  expect(history.owners).toEqual({
    ann: { 'f:spec': { '.': {}, 'f:l': {}, 'f:m': { '.': {}, 'f:x': {} } } },
    ben: { 'f:spec': { '.': {}, 'f:m': { '.': {}, 'f:y': {} } } },
  });
  expect(refusal(() => history.apply('ben', { spec: { l: [{ name: 'b' }] } }))).toBe(
    'Apply failed with 1 conflict: conflict with "ann": .spec.l',
  );
});

test('objects of any form are written, applied over and taken away again', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const fields = ['lid', 'size', 'plain', 'set', 'map', 'two', 'whole', 'parts', 'dict', 'free', 'any', 'port', 'inside', 'odd'];
  const spec = fc.dictionary(
    fc.constantFrom(...fields),
    fc.oneof(value, fc.array(fc.record({ name: value, port: value }, { requiredKeys: [] }))),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.constantFrom('ann', 'ben'), spec), { maxLength: 4 }), (writes) => {
      const history = new History(crate);
      for (const [applies, manager, body] of writes) {
        try {
          if (applies) history.apply(manager, { spec: body as JsonObject }, { force: true });
          else history.write(manager, { spec: body as JsonObject });
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }
    }),
    { numRuns: rounds(500) },
  );
});
