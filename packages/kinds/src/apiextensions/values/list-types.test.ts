import { atOnce } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { isPlainlyDistinct, listChecks } from './list-types.ts';
import { nodeOf } from './node.ts';

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const listType = (type: string, items: JSONSchemaProps, keys?: string[]): JSONSchemaProps =>
  ({ type: 'array', items, [x.listType]: type, ...(keys && { [x.listMapKeys]: keys }) }) as JSONSchemaProps;
const port = { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } } } as JSONSchemaProps;
const node = atOnce(
  nodeOf(
    {
      type: 'object',
      properties: {
        set: listType('set', { type: 'string' }),
        ports: listType('map', port, ['name', 'port']),
        inner: { type: 'object', properties: { more: { type: 'array', items: listType('set', { type: 'integer' }) } } },
      },
    } as JSONSchemaProps,
    x,
  ),
);
const errorsOf = (value: unknown): readonly unknown[] => {
  const errors = new FieldErrors();
  atOnce(listChecks(node, value, errors));
  return errors.list;
};

const scalar = fc.constantFrom<unknown>('a', 'b', '1', 1, 2, null, true);
const member = fc.oneof(scalar, fc.record({ name: scalar, port: scalar }, { requiredKeys: [] }), fc.array(scalar, { maxLength: 2 }));
const object = fc.record(
  {
    set: fc.array(member, { maxLength: 4 }),
    ports: fc.array(member, { maxLength: 4 }),
    inner: fc.record({ more: fc.array(fc.array(member, { maxLength: 3 }), { maxLength: 3 }) }),
  },
  { requiredKeys: [] },
);

test('the quick look never misses a repeated or a wrong member', () => {
  let plain = 0;
  fc.assert(
    fc.property(object, (value) => {
      if (!isPlainlyDistinct(node, value)) return;
      plain++;
      expect(errorsOf(value)).toEqual([]);
    }),
    { numRuns: rounds(2000) },
  );
  expect(plain).toBeGreaterThan(rounds(2000) / 20);
});

test('most small objects need the quick look only, long lists and repeated members more', () => {
  const ports = [
    { name: 'a', port: 80 },
    { name: 'a', port: 81 },
  ];
  expect(isPlainlyDistinct(node, { set: ['a', 'b'], ports, inner: { more: [[1], [1, 2]] } })).toBe(true);
  expect(isPlainlyDistinct(node, { ports: [...ports, { name: 'a', port: 80 }] })).toBe(false);
  const long = Array.from({ length: 17 }, (_, i) => `${i}`);
  expect(isPlainlyDistinct(node, { set: long.slice(1) })).toBe(true);
  expect(isPlainlyDistinct(node, { set: long })).toBe(false);
  expect(isPlainlyDistinct(node, { inner: { more: Array.from({ length: 200 }, () => []) } })).toBe(false);
});
