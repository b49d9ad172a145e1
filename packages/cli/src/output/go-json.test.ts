import { expect, test } from 'vitest';
import { goJson } from './go-json.ts';

test('keys are in order at every level, those that look like numbers as well', () => {
  expect(goJson({ b: [{ z: 1, a: 2 }], a: { y: null, x: [] } })).toBe('{"a":{"x":[],"y":null},"b":[{"a":2,"z":1}]}');
  expect(goJson({ b: 1, a: {} }, 4)).toBe('{\n    "a": {},\n    "b": 1\n}');
  expect(goJson({ 9: 1, 10: 2, x: undefined })).toBe('{"10":2,"9":1}');
  expect(goJson(undefined)).toBe('null');
});

test('characters of HTML are escaped as Go does', () => {
  expect(goJson({ a: '<none> & "more"\u2028' })).toBe('{"a":"\\u003cnone\\u003e \\u0026 \\"more\\"\\u2028"}');
});
