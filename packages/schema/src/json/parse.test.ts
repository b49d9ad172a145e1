import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { DecodeError } from '../errors.ts';
import { holdsFloats, noteValue, parsedJson, parseJson } from './parse.ts';
import { JsonParser } from './parser.ts';

test('of a repeated key the last value counts; with merge, repeated objects are laid one over the other', () => {
  const text = '{"metadata":{"name":"a","labels":{"x":"1"}},"data":{"a":"2","a":"3"},"metadata":{"labels":{"y":"2"}}}';
  expect(parseJson(text)).toEqual({ metadata: { labels: { y: '2' } }, data: { a: '3' } });
  expect(parseJson(text, { merge: true })).toEqual({ metadata: { name: 'a', labels: { x: '1', y: '2' } }, data: { a: '3' } });
});

// Recorded from a stock server.
test.each([
  ['', 'unexpected end of JSON input'],
  ['   ', 'unexpected end of JSON input'],
  ['{"apiVersion":"v1"', 'unexpected end of JSON input'],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{apiVersion:v1}', "invalid character 'a' looking for beginning of object key string"],
  ["{'apiVersion':'v1'}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":"\\q"}', "invalid character 'q' in string escape code"],
  ['{"a":1} {"b":1}', "invalid character '{' after top-level value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['nul', 'unexpected end of JSON input'],
  ['-x', "invalid character 'x' in numeric literal"],
  ['"\u0001"', "invalid character '\\u0001' in string literal"],
])('%j is refused in the words clients know', (text, message) => {
  expect(() => parseJson(text)).toThrow(new DecodeError(message));
});

test('bytes that are not UTF-8 and half characters become replacement characters', () => {
  expect(parseJson(Buffer.from([0x22, 0x78, 0xff, 0xfe, 0x79, 0x22]))).toBe('x\ufffd\ufffdy');
  expect(parseJson('{"a":"\\ud800","b":"\\ud83d\\ude00"}')).toEqual({ a: '\ufffd', b: '😀' });
});

test('deep nesting is refused, not followed', () => {
  for (const text of ['['.repeat(1_000_000), '['.repeat(5000) + ']'.repeat(5000), `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`]) {
    expect(() => parseJson(text)).toThrow(text.endsWith('[') ? /max depth|unexpected end/ : 'exceeded max depth');
    expect(() => parseJson(text, { merge: true })).toThrow(DecodeError);
  }
  expect(parseJson('['.repeat(900) + ']'.repeat(900))).toHaveLength(1);
});

test('repeated __proto__ keys do not reach the prototype', () => {
  const value = parseJson('{"__proto__":{"a":1},"__proto__":{"b":2}}', { merge: true });
  expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1,"b":2}}');
  expect(({} as { a?: number }).a).toBeUndefined();
});

test('any JSON text is read as the engine reads it, by both parsers', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (text, spaced) => {
      const shown = spaced ? jsonText(JSON.parse(text), 2) : text;
      expect(parseJson(shown, { merge: true })).toEqual(JSON.parse(text));
      expect(JSON.stringify(atOnce(new JsonParser(shown, {}).value()))).toBe(jsonText(JSON.parse(text)));
    }),
  );
});

test('both parsers accept and refuse the same texts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '\\', '1', '-', '.', 'e', 'true', 'null', ' ')),
      (parts) => {
        const text = parts.join('');
        const accepts = (read: () => unknown): boolean => {
          try {
            read();
            return true;
          } catch {
            return false;
          }
        };
        expect(accepts(() => atOnce(new JsonParser(text, {}).value()))).toBe(accepts(() => JSON.parse(text)));
      },
    ),
    { numRuns: rounds(2000) },
  );
});

/** The result of work, and how often it let others have their turn. */
function counted<T>(work: Work<T>): { value: T; yields: number } {
  for (let yields = 0; ; yields++) {
    const step = work.next();
    if (step.done) return { value: step.value, yields };
  }
}

test('large text is looked through in steps, however few values it holds', () => {
  const text = 'a'.repeat(3 * 2 ** 20);
  const { value, yields } = counted(parsedJson(Buffer.from(`{"a":"${text}\\""}`)));
  expect(value).toEqual({ a: `${text}"` });
  expect(yields).toBeGreaterThanOrEqual(48);
});

test('text that is read in steps counts a string across their ends as one value', () => {
  // Strings of 100 characters that would be lists and keys without their quotes; an escape falls on each place of a step's end.
  const odd = '[{:,\\"'.repeat(14);
  for (let shift = 0; shift < 7; shift++) {
    const list = Array.from({ length: 10_000 }, () => odd);
    const body = Buffer.from(JSON.stringify([' '.repeat(shift), ...list]));
    expect(counted(parsedJson(body)).value).toEqual([' '.repeat(shift), ...list]);
  }
});

test('text of many values that is read in steps tells whether a number has a fraction or an exponent', () => {
  const many = Array.from({ length: 30_000 }, (_, i) => i);
  for (const [last, expected] of [
    ['1.0', true],
    ['1e3', true],
    ['-0E1', true],
    ['10', false],
    ['-7', false],
    ['"1.5e3"', false],
  ] as const) {
    const text = `[${many.join(',')},${last}]`;
    expect(holdsFloats(counted(parsedJson(Buffer.from(text))).value)).toBe(expected);
    expect(holdsFloats(parseJson(text, { merge: true }))).toBe(expected);
  }
});

test('numbers beyond all that there are are refused, however they are written', () => {
  const many = Array.from({ length: 30_000 }, (_, i) => i);
  const long = `1${'0'.repeat(400)}.5`;
  for (const number of ['2e308', '1e400', '-1E+999', long]) {
    const message = `number ${number.slice(0, 64)}${number.length > 64 ? '...' : ''} is out of range`;
    expect(() => parseJson(`{"a":[true,${number}]}`)).toThrow(message);
    expect(() => parseJson(`{"a":1,"a":${number}}`, { merge: true })).toThrow(message);
    expect(() => counted(parsedJson(Buffer.from(`[${many.join(',')},${number}]`)))).toThrow(message);
  }
  expect(parseJson('[1e308,-1e-400,true,false,"1e400",1E2]')).toEqual([1e308, -0, true, false, '1e400', 100]);
});

test('text of many values is read in steps as other text is', () => {
  const many = Array.from({ length: 30_000 }, (_, i) => i);
  const steps = (last: string): unknown => counted(parsedJson(Buffer.from(`[${many.join(',')},${last}]`))).value;
  expect(steps('9007199254740991')).toEqual([...many, 9007199254740991]);
  expect(steps('"9007199254740993"')).toEqual([...many, '9007199254740993']);
  expect(steps('9007199254740993.0e0')).toEqual([...many, 9007199254740992]);
  expect(steps('9007199254740993')).toEqual([...many, 9007199254740993n]);
  expect(steps('-123456789012345678901')).toEqual([...many, -123456789012345680000]);
  expect(steps('"\\ud800x\\ud83d\\ude00"')).toEqual([...many, '\ufffdx😀']);
  expect(steps('{"\\udc00":1}')).toEqual([...many, { '\ufffd': 1 }]);
});

test('a text whose value is known is not parsed, and reads as its text does', () => {
  const value = { a: undefined, b: [1, undefined, { c: undefined, d: 'x' }], e: { f: null } };
  const text = Buffer.from(JSON.stringify(value));
  noteValue(text, value);
  expect(parseJson(text)).toStrictEqual(JSON.parse(text.toString()));
  const whole = { a: { b: ['x'] } };
  const other = Buffer.from(JSON.stringify(whole));
  noteValue(other, whole);
  expect(parseJson(other, { merge: true })).toBe(whole);
  expect(value.b).toEqual([1, undefined, { c: undefined, d: 'x' }]);
});
