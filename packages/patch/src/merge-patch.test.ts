import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { mergedValue, readMergePatch } from './merge-patch.ts';

const merge = (document: JsonValue, patch: JsonValue): JsonValue => atOnce(mergedValue(document, patch));

test('keys are merged, null removes, lists are replaced', () => {
  const document = { data: { red: '1', green: '2' }, list: [1, 2], labels: { size: 'l' } };
  const before = structuredClone(document);
  expect(readMergePatch('{"data":{"red":null,"grey":"4","never":null},"list":[null,3],"labels":null}')(document)).toEqual({
    data: { green: '2', grey: '4' },
    list: [null, 3],
  });
  expect(document).toEqual(before);
});

test('nulls of a new object are not kept', () => {
  expect(merge({}, { a: { b: null, c: { d: null, e: 1 } } })).toEqual({ a: { c: { e: 1 } } });
  expect(merge({ a: 'text' }, { a: { b: 1 } })).toEqual({ a: { b: 1 } });
});

test('what is no JSON, or neither object nor list, is a bad request', () => {
  for (const body of ['{"data":', '', '"text"', 'null', 'data:\n  a: "2"\n', '5'])
    expect(() => readMergePatch(body)).toThrow('Invalid JSON Patch');
  expect(readMergePatch('[{"op":"remove"}]')({ a: 1 })).toEqual([{ op: 'remove' }]);
});

test('no key reaches a prototype', () => {
  const result = merge({}, JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'));
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}');
});

/** The algorithm as the RFC words it, on maps. */
function naive(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, naive(result.get(name), value));
  }
  return Object.fromEntries(result) as JsonValue;
}

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'medium' }, fc.constantFrom(null, 1, 'x', true), fc.array(tie('any'), { maxLength: 2 }), tie('object')),
  object: fc
    .array(fc.tuple(key, tie('any')), { maxLength: 3 })
    .map((entries) => JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${jsonText(v)}`).join(',')}}`)),
}));

test('agrees with the words of the RFC, is idempotent, and leaves its inputs alone', () => {
  fc.assert(
    fc.property(value.any as fc.Arbitrary<JsonValue>, value.any as fc.Arbitrary<JsonValue>, (document, patch) => {
      const texts = [JSON.stringify(document), JSON.stringify(patch)];
      const once = merge(document, patch);
      expect(JSON.stringify(once)).toBe(JSON.stringify(naive(document, patch)));
      expect(JSON.stringify(merge(once, patch))).toBe(JSON.stringify(once));
      expect([JSON.stringify(document), JSON.stringify(patch)]).toEqual(texts);
    }),
  );
});

test('a list is no merge patch in later releases', () => {
  const later = { dropsDirectives: true, checksRoot: true, refusesLists: true };
  expect(readMergePatch('[1]')({})).toEqual([1]);
  expect(() => readMergePatch('[1]', later)).toThrow('a merge patch is an object');
});
