import { atOnce } from '@plat-dev/lib/slices';
import { kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from './custom-schema.ts';
import { MAX_DEFAULTS } from './defaults.ts';

const schemaOf = (spec: JSONSchemaProps): CustomSchema =>
  atOnce(CustomSchema.compile({ type: 'object', properties: { spec } }, false, kubernetes.schemaExtensionPrefix, 'example.v1.Thing'));
const thing = (spec: unknown) =>
  ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec }) as unknown as ApiObject & JsonObject;

const long = 'x'.repeat(10_000);
const inItems = schemaOf({
  type: 'array',
  items: { type: 'object', properties: { text: { type: 'string', default: long } } },
});
const items = (count: number) => thing(Array.from({ length: count }, () => ({})));
/** The text with its quotes, and the name of its field. */
const most = Math.floor(MAX_DEFAULTS / (long.length + 2 + 'text'.length));

test('a long default that every item of a list would get is refused when it adds more than a body may have', () => {
  const fits = items(most);
  inItems.fillDefaults(fits);
  expect((fits.spec as JsonObject[]).every(({ text }) => text === long)).toBe(true);
  const refused = expect.objectContaining({ code: 413, message: expect.stringContaining('the defaults of its definition would add') });
  expect(() => inItems.fillDefaults(items(most + 1))).toThrow(refused);
});

test('so are those of maps, those that are items themselves, and many small ones', () => {
  const refused = expect.objectContaining({ code: 413 });
  const small = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'integer', default: 1 }]));
  const nested = schemaOf({ type: 'array', items: { type: 'object', properties: small } as JSONSchemaProps });
  expect(() => nested.fillDefaults(items(20_000))).toThrow(refused);
  const map = schemaOf({ type: 'object', additionalProperties: { type: 'string', default: long } });
  const nulls = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, null]));
  expect(() => map.fillDefaults(thing(nulls))).toThrow(refused);
  const list = schemaOf({ type: 'array', items: { type: 'string', default: long } });
  expect(() => list.fillDefaults(thing(Array(400).fill(null)))).toThrow(refused);
});

test('what is stored already is not refused: whoever reads it learns that defaults are missing', () => {
  expect(inItems.fillStored(items(most))).toBe(true);
  expect(inItems.fillStored(items(20_000))).toBe(false);
});
