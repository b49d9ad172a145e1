/** Unknown and repeated fields are named by their paths, in the order and the words of a stock server. */

import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import { parsedJson, parseJson } from '../json/parse.ts';
import {
  anyValue,
  bool,
  int32,
  json,
  lazy,
  list,
  type MessageType,
  map,
  message,
  object,
  opt,
  raw,
  string,
  type Type,
  union,
} from '../types.ts';
import { FieldFaults, MAX_FAULTS } from './field-faults.ts';
import { FieldPlace, unknownFields } from './field-place.ts';

const Port = message('test.Port', { name: opt(1, string), number: opt(2, int32) });
const Meta = message('test.Meta', { name: opt(1, string), labels: opt(2, map(string)) });
const Schema: MessageType = message('test.Schema', {
  type: opt(1, string),
  items: opt(2, union('test.SchemaOrList', { tag: 1, type: lazy(() => Schema) }, { tag: 2, type: list(lazy(() => Schema)) })),
  example: opt(3, json),
});
const Thing = object('test.Thing', {
  metadata: opt(1, Meta),
  paused: opt(2, bool),
  ports: opt(3, list(Port)),
  byName: opt(4, map(Port)),
  schema: opt(5, Schema),
  extension: opt(6, raw),
});

/** What is reported of a text: while it is parsed, and by the parsed value afterwards, as requests do both. */
function faultsOf(type: Type, text: string, sorted = false): FieldFaults {
  const faults = new FieldFaults();
  const value = parseJson(text, { merge: true, place: FieldPlace.root(faults, type) });
  atOnce(unknownFields(FieldPlace.root(faults, type), value, sorted));
  return faults;
}
/** The same for a large text, whose parser yields. */
function faultsOfLarge(type: Type, text: string): string[] {
  const faults = new FieldFaults();
  const value = atOnce(parsedJson(Buffer.from(text), { merge: true, place: FieldPlace.root(faults, type) }));
  atOnce(unknownFields(FieldPlace.root(faults, type), value));
  return faults.texts;
}

test.each<[string, string[]]>([
  ['{"paused":true,"metadata":{"name":"a"}}', []],
  ['{"mystery":1,"metadata":{"nick":"n","labels":{"any":"thing"}}}', ['unknown field "mystery"', 'unknown field "metadata.nick"']],
  ['{"paused":true,"paused":false}', ['duplicate field "paused"']],
  [
    '{"ports":[{"number":1},{"nmae":1,"number":2,"number":3}],"paused":true,"later":1,"paused":true}',
    ['unknown field "ports[1].nmae"', 'duplicate field "ports[1].number"', 'unknown field "later"', 'duplicate field "paused"'],
  ],
  // A field that is unknown and repeated is unknown, once; what it holds is not looked at.
  ['{"mystery":{"a":1,"a":2},"mystery":2}', ['unknown field "mystery"']],
  ['{"metadata":{"labels":{"a":"1","a":"2"}}}', ['duplicate field "metadata.labels.a"']],
  ['{"byName":{"x":{"port":1},"x":{"name":"a"}}}', ['unknown field "byName.x.port"', 'duplicate field "byName.x"']],
  ['{"metadata":{"nick":1},"metadata":{"nick":2}}', ['unknown field "metadata.nick"', 'duplicate field "metadata"']],
  [
    '{"schema":{"items":{"typo":1,"items":[{"items":{"typo":1}}]}}}',
    ['unknown field "schema.items.typo"', 'unknown field "schema.items.items[0].items.typo"'],
  ],
  // Values that the schema says nothing about are not looked into.
  ['{"extension":{"a":1,"a":2},"schema":{"example":{"b":1,"b":2}}}', []],
  ['{"kind":"Thing","apiVersion":"v1","a\\"b":1,"":2}', ['unknown field "a\\"b"', 'unknown field ""']],
  ['{"__proto__":1,"constructor":2}', ['unknown field "__proto__"', 'unknown field "constructor"']],
])('%s', (text, expected) => {
  expect(faultsOf(Thing, text).texts).toEqual(expected);
  expect(faultsOfLarge(Thing, text)).toEqual(expected);
});

test('of a value of which nothing is known repeated fields are reported, and no others', () => {
  const text = '{"a":1,"b":[{"c":1,"c":2}],"a":{"d":1,"d":2}}';
  const expected = ['duplicate field "b[0].c"', 'duplicate field "a"', 'duplicate field "a.d"'];
  expect(faultsOf(anyValue, text).texts).toEqual(expected);
  expect(faultsOf(object('test.Custom', {}, { unknown: 'keep' }), text).texts).toEqual(expected);
});

test('fields can be reported in the order of their names', () => {
  expect(faultsOf(Thing, '{"z":1,"metadata":{"y":1,"b":1},"a":1}', true).texts).toEqual(
    ['a', 'metadata.b', 'metadata.y', 'z'].map((path) => `unknown field "${path}"`),
  );
});

test('the message of a refusal names all of them', () => {
  const faults = faultsOf(Thing, '{"a":1,"paused":true,"paused":true}');
  expect(faults.message()).toBe('strict decoding error: unknown field "a", duplicate field "paused"');
  faults.addLine('line 2: key "b" already set in map');
  faults.addLine('line 3: key "c" already set in map');
  expect(faults.message()).toBe(
    'strict decoding error: yaml: unmarshal errors:\n  line 2: key "b" already set in map\n  line 3: key "c" already set in map, unknown field "a", duplicate field "paused"',
  );
});

test('faults are bounded in number and in length, whatever a body holds', () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, 0])));
  expect(faultsOf(Thing, many).texts).toHaveLength(MAX_FAULTS);
  const long = 'x'.repeat(50_000);
  const [text = ''] = faultsOf(Thing, `{"byName":{"${long}":{"${long}":1}}}`).texts;
  expect(text.length).toBeLessThan(5_000);
  expect(text).toMatch(/^unknown field "byName\.x+\.\.\."$/);
  const again = `{${'"a":1,'.repeat(2_000)}"b":1,"b":2}`;
  // What comes after very many repetitions is not looked for any more; the body is at fault in any case.
  expect(faultsOf(anyValue, again).texts).toEqual(['duplicate field "a"']);
});
