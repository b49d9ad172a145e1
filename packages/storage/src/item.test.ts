import { jsonText } from '@plat-dev/lib/json-text';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { itemFromStored, storedObject, storedValue } from './item.ts';

const uid = '63bfeac9-4141-42e7-aca9-a033f7b2b13e';
const stored = (object: object): unknown => storedObject(storedValue(jsonText(object), uid));

test('facts are read from the object without its field managers', () => {
  const managedFields = [{ manager: 'a "quoted] name\\', fieldsV1: { 'k:{"name":"]}"}': { '.': {} } } }, { manager: '[' }];
  const labels = { app: '"managedFields":[', more: '\\"managedFields\\":[' };
  const object = { kind: 'Pod', metadata: { uid, labels, managedFields }, spec: { containers: [{ name: 'a' }] } };
  expect(stored(object)).toEqual({ ...object, metadata: { ...object.metadata, managedFields: [] } });
  expect(stored({ metadata: { uid, labels } })).toEqual({ metadata: { uid, labels } });
  expect(stored({ metadata: { uid }, managedFields: null })).toEqual({ metadata: { uid }, managedFields: null });
});

test('whatever managers and the rest hold, the rest is read as it is', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'ä', '😀', '"managedFields":[') });
  const json = fc.jsonValue().chain((value) => fc.dictionary(text, fc.oneof(text, fc.constant(value))));
  fc.assert(
    fc.property(fc.array(json), json, (managedFields, rest) => {
      expect(stored({ metadata: { uid, managedFields }, rest })).toEqual({
        metadata: { uid, managedFields: [] },
        rest: JSON.parse(JSON.stringify(rest)),
      });
    }),
  );
});

test('a text that was cut short is an error, as it is for every reader', () => {
  const value = storedValue(JSON.stringify({ metadata: { uid, managedFields: [{ manager: 'a' }] } }), uid);
  for (let length = 8; length < value.length; length++) expect(() => storedObject(value.subarray(0, length))).toThrow(SyntaxError);
});

test('the version of an item stands right after its uid, whatever its length', () => {
  for (const revision of [0, 7, 10, 99, 100, 123_456_789, Number.MAX_SAFE_INTEGER]) {
    for (const rest of ['', 'ä'.repeat(10), 'x'.repeat(1000)]) {
      const value = storedValue(JSON.stringify({ metadata: { name: 'a', uid, labels: { rest } }, rest }), uid);
      const item = itemFromStored('a', value, revision, revision, { labels: { rest }, fields: undefined });
      const text = JSON.stringify({ metadata: { name: 'a', uid, resourceVersion: String(revision), labels: { rest } }, rest });
      expect(item.bytes.toString()).toBe(text);
      expect(item.line?.toString()).toBe(`${text}\n`);
    }
  }
});
