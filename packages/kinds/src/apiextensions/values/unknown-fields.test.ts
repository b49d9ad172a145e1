/** Unknown fields of custom objects: what pruning would drop, and unknown metadata. */

import { atOnce } from '@plat-dev/lib/slices';
import { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from './custom-schema.ts';

const prefix = 'x-kubernetes-';
const x = extensionNames(prefix);
const text: JSONSchemaProps = { type: 'string' };
const obj = (properties: Record<string, JSONSchemaProps>, more: object = {}): JSONSchemaProps => ({ type: 'object', properties, ...more });
const keep = { [x.preserveUnknownFields]: true };

function unknown(schema: JSONSchemaProps | undefined, value: JsonValue, preserve = false): string[] {
  const faults = new FieldFaults();
  const before = JSON.stringify(value);
  atOnce(atOnce(CustomSchema.compile(schema, preserve, prefix, 'test.Thing')).unknownFields(value, faults));
  expect(JSON.stringify(value)).toBe(before);
  return faults.texts.map((one) => one.replace(/^unknown field "(.*)"$/, '$1'));
}

const schema = obj({
  // Definitions may restrict metadata, and mostly name it without its fields.
  metadata: { type: 'object' },
  spec: obj({
    known: text,
    ports: { type: 'array', items: obj({ name: text }) },
    tags: { type: 'object', additionalProperties: obj({ value: text }) },
    free: { type: 'object', ...keep },
    half: obj({ inner: obj({ a: text }) }, keep),
    pod: { type: 'object', [x.embeddedResource]: true, properties: { spec: obj({ image: text }) } },
    any: keep,
  }),
});

test.each<[string, JsonObject, string[]]>([
  ['nothing', { kind: 'Thing', apiVersion: 'a/v1', metadata: { name: 'a', labels: { a: 'b' } }, spec: { known: 'a' } }, []],
  [
    'fields in the order of their paths, after those of metadata',
    { zz: 1, spec: { b: 1, ports: [{ name: 'a' }, { nmae: 'b' }], a: { c: 1 } }, metadata: { nick: 'n' } },
    ['metadata.nick', 'spec.a', 'spec.b', 'spec.ports[1].nmae', 'zz'],
  ],
  ['values of maps', { spec: { tags: { x: { value: 'a', valeu: 'b' } } } }, ['spec.tags.x.valeu']],
  [
    'where unknown fields are kept, named ones are still followed',
    { spec: { free: { a: { b: 1 } }, any: { a: [{ b: 1 }] }, half: { z: 1, inner: { a: 'a', b: 1 } } } },
    ['spec.half.inner.b'],
  ],
  [
    'objects inside of objects: their metadata comes last',
    { spec: { pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', nick: 'n' }, spec: { image: 'a', img: 'b' }, stauts: {} } } },
    ['spec.pod.spec.img', 'spec.pod.stauts', 'spec.pod.metadata.nick'],
  ],
  ['a value that is no object', { spec: 'a', metadata: 'b' }, []],
])('%s', (_, value, expected) => {
  expect(unknown(schema, value)).toEqual(expected);
});

test('a definition that keeps all fields knows those of metadata alone', () => {
  const value = { a: 1, metadata: { nick: 'n' }, spec: { b: 1 } };
  expect(unknown(undefined, value)).toEqual(['metadata.nick']);
  expect(unknown(schema, value, true)).toEqual(['metadata.nick']);
  expect(unknown({ type: 'object', ...keep }, value)).toEqual(['metadata.nick']);
});

test('what is named is what pruning drops', () => {
  const value = {
    metadata: {},
    one: [1],
    spec: {
      known: 'a',
      two: { a: 1 },
      ports: [{ three: 1 }, [{ four: 1 }]],
      tags: { a: { five: 1 } },
      half: { inner: { six: 1 }, kept: 1 },
    },
  };
  const dropped: string[] = [];
  const custom = atOnce(CustomSchema.compile(schema, false, prefix, 'test.Thing'));
  custom.prune(cloneJson(value) as never, { report: (path) => dropped.push(path) });
  expect(unknown(schema, value)).toEqual(dropped.sort());
  expect(dropped.length).toBeGreaterThan(4);
});

test('the names of very many fields are bounded', () => {
  const spec = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, 1]));
  expect(unknown(schema, { spec })).toHaveLength(100);
});
