import { expect, test } from 'vitest';
import fc from '../lib/fast-check.testing.ts';
import { storedObject, storedValue } from './item.ts';

const uid = '63bfeac9-4141-42e7-aca9-a033f7b2b13e';
const stored = (object: object): unknown => storedObject(storedValue(JSON.stringify(object), uid));

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
