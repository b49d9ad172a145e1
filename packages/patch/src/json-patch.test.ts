import { jsonText } from '@plat-dev/lib/json-text';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { MAX_OPERATIONS, readJsonPatch } from './json-patch.ts';

const patch = (document: JsonValue, operations: unknown): JsonValue =>
  readJsonPatch(typeof operations === 'string' ? operations : jsonText(operations))(document);

/** The code of the error that the patch ends in. */
function refused(document: JsonValue, operations: unknown): number {
  try {
    patch(document, operations);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return 0;
}

test('every operation in one patch', () => {
  const document = { data: { hammer: 'big', saw: 'blunt', nail: 'rusty' }, labels: { shelf: 'top' } };
  const before = structuredClone(document);
  expect(
    patch(document, [
      { op: 'test', path: '/data/hammer', value: 'big' },
      { op: 'add', path: '/data/file', value: 'round' },
      { op: 'replace', path: '/data/saw', value: 'sharp' },
      { op: 'remove', path: '/data/nail' },
      { op: 'copy', from: '/data/file', path: '/data/rasp' },
      { op: 'move', from: '/labels/shelf', path: '/labels/place' },
    ]),
  ).toEqual({ data: { hammer: 'big', saw: 'sharp', file: 'round', rasp: 'round' }, labels: { place: 'top' } });
  expect(document).toEqual(before);
});

test('lists by index, by dash and from the end', () => {
  expect(patch(['a', 'b'], [{ op: 'add', path: '/1', value: 'x' }])).toEqual(['a', 'x', 'b']);
  expect(patch(['a'], [{ op: 'add', path: '/-', value: 'z' }])).toEqual(['a', 'z']);
  expect(patch(['a', 'b'], [{ op: 'remove', path: '/-1' }])).toEqual(['a']);
  expect(patch(['a', 'b'], [{ op: 'replace', path: '/-2', value: 'y' }])).toEqual(['y', 'b']);
  for (const path of ['/2', '/-3', '/one', '/-', '/1.5', '/']) expect(refused(['a', 'b'], [{ op: 'remove', path }])).toBe(422);
  expect(refused(['a'], [{ op: 'add', path: '/3', value: 1 }])).toBe(422);
});

test('escapes reach keys with slash and tilde', () => {
  expect(
    patch({ 'a/b': 1, 'c~d': 2, '~1': 3 }, [
      { op: 'remove', path: '/a~1b' },
      { op: 'remove', path: '/c~0d' },
    ]),
  ).toEqual({ '~1': 3 });
  expect(patch({ '~1': 3 }, [{ op: 'remove', path: '/~01' }])).toEqual({});
});

test('a document that is no patch is a bad request', () => {
  expect(refused({}, { data: {} })).toBe(400);
  expect(refused({}, '[{"op":"add",')).toBe(400);
  expect(refused({}, '')).toBe(400);
  expect(refused({}, [5])).toBe(400);
  expect(patch({ a: 1 }, 'null')).toEqual({ a: 1 });
});

test('an operation that does not apply refuses the whole patch', () => {
  const document = { data: { a: '1' }, nothing: null };
  for (const operation of [
    { op: 'jump', path: '/data/a' },
    { op: 'add', value: '2' },
    { op: 'copy', path: '/data/b' },
    { op: 'copy', from: '/none/a', path: '/data/b' },
    { op: 'move', from: '/data/none', path: '/data/b' },
    { op: 'remove', path: '/data/none' },
    { op: 'add', path: '/none/b', value: 1 },
    { op: 'add', path: '/nothing/-', value: 1 },
    { op: 'add', path: '', value: {} },
    { op: 'add', path: 5, value: {} },
    { op: 'test', path: '/data/a', value: '2' },
    { op: 'test', path: '/data', value: { a: '1', b: '1' } },
    { op: 'test', path: '', value: {} },
  ])
    expect([operation, refused(document, [operation])]).toEqual([operation, 422]);
});

test('the leniencies of the stock server', () => {
  expect(patch({}, [{ op: 'add', path: '/b' }])).toEqual({ b: null });
  expect(patch({}, [{ op: 'copy', from: '/a', path: '/b' }])).toEqual({ b: null });
  expect(patch({}, [{ op: 'replace', path: '/b', value: 1 }])).toEqual({ b: 1 });
  expect(patch({}, [{ op: 'add', path: 'data/b', value: 1 }])).toEqual({ b: 1 });
  expect(patch({ a: 1 }, [{ op: 'replace', path: '', value: 'x' }])).toEqual({ a: 1 });
  expect(patch({ a: 1 }, [{ op: 'replace', path: '', value: { c: 2 } }])).toEqual({ c: 2 });
  expect(patch({}, [{ op: 'test', path: '/none', value: null }])).toEqual({});
});

test('the number of operations is bounded', () => {
  const operations = (count: number): unknown => Array.from({ length: count }, () => ({ op: 'test', path: '/a', value: '1' }));
  expect(refused({ a: '1' }, operations(MAX_OPERATIONS))).toBe(0);
  expect(refused({ a: '1' }, operations(MAX_OPERATIONS + 1))).toBe(413);
});

test('copies that grow without end are refused', () => {
  const grow = Array.from({ length: 200 }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` }));
  expect(refused({ a: 'x'.repeat(20_000) }, grow)).toBe(422);
  const double = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/${i}` }));
  expect(refused({ a: { seed: 'x' } }, double)).toBe(422);
});

test('nesting without end is refused', () => {
  let path = '/a';
  const operations: unknown[] = [{ op: 'add', path, value: {} }];
  for (let i = 0; i < 14; i++) {
    operations.push({ op: 'copy', from: '/a', path: `${path}/a` });
    path += path;
  }
  expect(refused({}, operations)).toBe(422);
  const deep = JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`);
  expect(
    refused({}, [
      { op: 'add', path: '/a', value: deep },
      { op: 'move', from: '/a', path: '/b' },
      { op: 'add', path: `/b${'/0'.repeat(899)}/-`, value: deep },
    ]),
  ).toBe(422);
});

test('a large document, and large values, are copied in steps', () => {
  const large = (): JsonValue => Array.from({ length: 20_000 }, (_, i) => ({ a: i }));
  const steps = (document: JsonValue, operations: readonly JsonValue[]): number => {
    return [...readJsonPatch(jsonText(operations)).patched(document)].length;
  };
  expect(steps({ a: 1 }, [{ op: 'add', path: '/b', value: 2 }])).toBeLessThan(3);
  expect(steps({ a: large() }, [{ op: 'add', path: '/b', value: 2 }])).toBeGreaterThan(50);
  expect(steps({}, [{ op: 'add', path: '/b', value: large() }])).toBeGreaterThan(50);
  expect(steps({ a: 1 }, [{ op: 'replace', path: '/a', value: large() }])).toBeGreaterThan(50);
});

test('no key reaches a prototype', () => {
  for (const path of ['/__proto__/polluted', '/constructor/prototype/polluted', '/a/__proto__/polluted'])
    expect(refused({ a: {} }, [{ op: 'add', path, value: 'yes' }])).toBe(422);
  const result = patch({}, '[{"op":"add","path":"/__proto__","value":{"polluted":"yes"}}]') as object;
  expect(Object.hasOwn(result, '__proto__')).toBe(true);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  expect(refused({}, [{ op: 'remove', path: '/toString' }])).toBe(422);
});

test('adding and then removing gives back the document, whatever it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (document, key, value) => {
      fc.pre(!Object.hasOwn(document, key));
      const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const same = JSON.parse(JSON.stringify(document));
      expect(
        patch(same, [
          { op: 'add', path, value },
          { op: 'test', path, value },
          { op: 'remove', path },
        ]),
      ).toEqual(same);
    }),
  );
});

test('later releases refuse to replace the document by something that is no object', () => {
  const later = { dropsDirectives: true, checksRoot: true, refusesLists: true };
  const body = (value: unknown) => jsonText([{ op: 'replace', path: '', value }]);
  expect(readJsonPatch(body('x'))({ a: 1 })).toEqual({ a: 1 });
  expect(() => readJsonPatch(body('x'), later)({ a: 1 })).toThrow(ApiError);
  expect(readJsonPatch(body({ b: 1 }), later)({ a: 1 })).toEqual({ b: 1 });
});
