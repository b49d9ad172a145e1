import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';
import fc from './testing/fast-check.testing.ts';

test('integers beyond 2^53 are written with all of their digits', () => {
  expect(jsonText(9223372036854775807n)).toBe('9223372036854775807');
  expect(jsonText({ a: [-9223372036854775808n, 1, undefined], b: undefined, c: {}, d: [] })).toBe(
    '{"a":[-9223372036854775808,1,null],"c":{},"d":[]}',
  );
  expect(jsonText({ a: [9007199254740993n, { b: 'x' }], c: {}, d: [] }, 2)).toBe(
    '{\n  "a": [\n    9007199254740993,\n    {\n      "b": "x"\n    }\n  ],\n  "c": {},\n  "d": []\n}',
  );
});

test('with such an integer the text is that of JSON.stringify in all other places', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2, '\t'), (value, indent) => {
      const expected = JSON.stringify({ value, last: 'INTEGER' }, undefined, indent);
      expect(jsonText({ value, last: 9007199254740993n }, indent)).toBe(expected.replace('"INTEGER"', '9007199254740993'));
    }),
  );
});

test('what holds itself is refused, as by JSON.stringify', () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle.itself = circle;
  expect(() => jsonText(circle)).toThrow(TypeError);
});
