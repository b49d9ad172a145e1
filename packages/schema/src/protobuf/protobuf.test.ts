import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import fc, { codePoints, rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { DecodeError } from '../errors.ts';
import { decode, encode } from '../json/index.ts';
import { parseExact } from '../json/parse.ts';
import {
  always,
  bool,
  boxed,
  bytes,
  double,
  duration,
  fieldsV1,
  inline,
  int32,
  int64,
  intOrString,
  json,
  lazy,
  list,
  type MessageType,
  map,
  message,
  microTime,
  object,
  opt,
  ptr,
  quantity,
  raw,
  req,
  string,
  time,
  union,
} from '../types.ts';
import { BYTES_A_STEP } from './decode.ts';
import { byBytes } from './encode.ts';
import { decodedEnvelope, decodeEnvelope, encodeEnvelope, encodeObject } from './envelope.ts';
import { decodedProtobuf, decodeProtobuf, encodeProtobuf } from './index.ts';

const hex = (type: MessageType, value: unknown): string => encodeProtobuf(type, value).toString('hex');
const unhex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

const Inner = message('t.v1.Inner', { name: req(1, string), flag: ptr(2, bool) });
const Source = message('t.v1.Source', { path: opt(1, string), size: ptr(2, int32) });
const Node: MessageType = message('t.v1.Node', {
  name: opt(1, string),
  items: ptr(2, union('t.v1.NodeOrList', { tag: 1, type: lazy(() => Node) }, { tag: 2, type: list(lazy(() => Node)) })),
  more: ptr(3, union('t.v1.NodeOrBool', { tag: 2, type: lazy(() => Node) }, { tag: 1, type: bool })),
  byName: opt(4, map(lazy(() => Node))),
});
const Everything = object('t.v1.Everything', {
  text: opt(1, string),
  number: opt(2, int32),
  long: ptr(3, int64),
  ratio: ptr(4, double),
  flag: opt(5, bool),
  data: opt(6, bytes),
  amount: opt(7, map(quantity)),
  at: always(8, time),
  micro: ptr(9, microTime),
  span: ptr(10, duration),
  port: always(11, intOrString),
  raw: opt(12, raw),
  any: opt(13, list(json)),
  set: ptr(14, fieldsV1),
  inner: always(15, Inner),
  pointer: ptr(16, Inner),
  source: inline(17, Source),
  texts: opt(18, list(string)),
  numbers: opt(19, list(int32)),
  labels: opt(20, map(string)),
  extra: opt(21, map(boxed(list(string)))),
  verbs: opt(22, boxed(list(string))),
  node: ptr(200, Node),
});

test('zeros are written, what is absent is not', () => {
  const Small = object('t.v1.Small', {
    later: ptr(3, string),
    text: opt(1, string),
    number: opt(2, int64),
    flag: opt(4, bool),
    at: always(5, time),
    amount: always(6, quantity),
    port: always(7, intOrString),
    object: always(8, raw),
    inner: always(9, Inner),
    list: opt(10, list(string)),
    data: always(11, bytes),
    gone: opt(12, string, { only: 'json' }),
    source: inline(13, Source),
  });
  expect(hex(Small, {})).toBe('0a00 1000 2000 2a00 3203 0a01 30 3a06 0800 1000 1a00 4200 4a02 0a00 6a02 0a00'.replaceAll(' ', ''));
  expect(decodeProtobuf(Small, unhex(hex(Small, {})))).toEqual(decode(Small, {}));
});

test('negative numbers take ten bytes, tags beyond fifteen take two', () => {
  const Numbers = message('t.v1.Numbers', { small: opt(1, int32), big: opt(2, int64), far: opt(16, int32) });
  expect(hex(Numbers, { small: -1, big: -2, far: 300 })).toBe('08ffffffffffffffffff01 10feffffffffffffffff01 8001ac02'.replaceAll(' ', ''));
  const values = { small: -(2 ** 31), big: -(2 ** 53) + 1, far: 2 ** 31 - 1 };
  expect(decodeProtobuf(Numbers, encodeProtobuf(Numbers, values))).toEqual(values);
});

test('maps are written in order of their bytes', () => {
  const Labels = message('t.v1.Map', { labels: opt(1, map(string)) });
  const text = encodeProtobuf(Labels, { labels: { '\u{1f600}': '', '\uffee': '', b: '', '10': '', '9': '' } }).toString();
  expect(['10', '9', 'b', '\uffee', '\u{1f600}'].map((key) => text.indexOf(key))).toSatisfy((at: number[]) =>
    at.every((place, i) => place > 0 && (i === 0 || place > (at[i - 1] as number))),
  );
  fc.assert(
    fc.property(codePoints(), codePoints(), (a, b) => {
      expect(Math.sign(byBytes(a, b))).toBe(Buffer.from(a).compare(Buffer.from(b)));
    }),
  );
});

test('a union is a message with one arm set; a bool arm stands beside an object', () => {
  expect(hex(Node, { name: '', more: true })).toBe('0a00 1a02 0801'.replaceAll(' ', ''));
  expect(hex(Node, { name: '', more: false })).toBe('0a00 1a02 0800'.replaceAll(' ', ''));
  expect(hex(Node, { name: '', more: {} })).toBe('0a00 1a06 0801 1202 0a00'.replaceAll(' ', ''));
  expect(hex(Node, { name: '', items: [{}, {}] })).toBe('0a00 1208 1202 0a00 1202 0a00'.replaceAll(' ', ''));
});

const anyText = fc.oneof(fc.string({ maxLength: 60 }), fc.constant('é\u{1f600}'));
const anyKey = fc.string({ minLength: 1, maxLength: 8 });
const anyNode = fc.letrec((tie) => ({
  node: fc.record(
    {
      name: anyText,
      items: fc.oneof(tie('node'), fc.array(tie('node'), { minLength: 1, maxLength: 3 })),
      more: fc.oneof(fc.boolean(), tie('node')),
      byName: fc.dictionary(anyKey, tie('node'), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  ),
})).node;
const anyObject = fc.record(
  {
    text: anyText,
    number: fc.integer(),
    long: fc.maxSafeInteger(),
    ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
    flag: fc.boolean(),
    data: fc.uint8Array().map((data) => Buffer.from(data).toString('base64')),
    amount: fc.dictionary(anyKey, fc.constantFrom('1', '500m', '1Gi', '0', '1e3', '-5k')),
    at: fc
      .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map((d) => d.toISOString()),
    micro: fc.constantFrom('2020-01-01T00:00:00.000001Z', '1969-12-31T23:59:59.999999Z'),
    span: fc.constantFrom('1h0m0s', '0s', '-1.5s', '2540400h10m10s'),
    port: fc.oneof(fc.integer(), anyText),
    raw: fc.dictionary(anyKey, fc.jsonValue()),
    any: fc.array(fc.jsonValue()),
    set: fc.constant({ 'f:a': { '.': {} } }),
    inner: fc.record({ name: anyText, flag: fc.boolean() }, { requiredKeys: [] }),
    pointer: fc.record({ name: anyText, flag: fc.boolean() }, { requiredKeys: [] }),
    path: anyText,
    size: fc.integer(),
    texts: fc.array(anyText),
    numbers: fc.array(fc.integer()),
    labels: fc.dictionary(anyKey, anyText),
    extra: fc.dictionary(anyKey, fc.array(anyText)),
    verbs: fc.array(anyText),
    node: anyNode,
  },
  { requiredKeys: [] },
);

test('whatever an object holds comes back', () => {
  fc.assert(
    fc.property(anyObject, (given) => {
      const value = decode(Everything, parseExact(jsonText(given)));
      expect(decodeProtobuf(Everything, encodeProtobuf(Everything, value))).toEqual(value);
    }),
    { numRuns: rounds(150) },
  );
});

test('unknown fields are passed over, a message that comes twice is laid over itself, packed numbers are read', () => {
  const Some = message('t.v1.Some', {
    inner: ptr(1, Inner),
    numbers: opt(2, list(int32)),
    source: inline(3, Source),
    text: opt(4, string),
  });
  expect(decodeProtobuf(Some, unhex('4801 510000000000000000 5a0141 6500000000 6b 0801 7b 0801 7c 6c 2201 62'))).toEqual({ text: 'b' });
  expect(decodeProtobuf(Some, unhex('0a03 0a0141 0a02 1001'))).toEqual({ inner: { name: 'A', flag: true } });
  expect(decodeProtobuf(Some, unhex('1001 1203 02ac02 1003'))).toEqual({ numbers: [1, 2, 300, 3] });
  expect(decodeProtobuf(Some, unhex('1a03 0a0141 1a02 1005'))).toEqual({ path: 'A', size: 5 });
});

test.each([
  ['a cut varint', '08'],
  ['a cut text', '0a0541'],
  ['an endless varint', `10${'ff'.repeat(11)}01`],
  ['a length beyond the end', '0affffffff0f'],
  ['a length of 2^63', '0a80808080808080808001'],
  ['tag zero', '0001'],
  ['an end of no group', '0c'],
  ['an end of an unknown group', 'fc1f'],
  ['a group without end', 'fb1f0801'],
  ['wire type seven', 'ff1f'],
  ['the wrong wire type', '0d00000000'],
  ['a packed text', '0801'],
  ['a time beyond the calendar', '420b08ffffffffffffffff7f'],
  ['a quantity that is none', '3a080a016112030a0178'],
  ['broken JSON', '62030a017b'],
])('%s is refused', (_, bytes) => {
  expect(() => decodeProtobuf(Everything, unhex(bytes))).toThrow(DecodeError);
});

test('deep nesting is refused, not followed', () => {
  let deep = Buffer.alloc(0);
  for (let i = 0; i < 3000; i++) {
    const more = Buffer.concat([Buffer.from([0x12]), varint(deep.length), deep]);
    deep = Buffer.concat([Buffer.from([0x1a]), varint(more.length), more]);
  }
  expect(() => decodeProtobuf(Node, deep)).toThrow('exceeded max depth');
  expect(() => decodeProtobuf(Node, Buffer.alloc(1_000_000, 0xfb))).toThrow(DecodeError);
});
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Reads what may be broken: an object or a DecodeError, nothing else. */
function readOrRefuse(bytes: Buffer): void {
  const outcome = (read: (raw: Buffer) => unknown): string => {
    try {
      return jsonText(read(decodeEnvelope(bytes).raw));
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
      return String(error);
    }
  };
  // Nothing depends on whether it is read in steps.
  expect(outcome((raw) => atOnce(decodedProtobuf(Everything, raw, 0)))).toBe(outcome((raw) => decodeProtobuf(Everything, raw)));
}

test('whatever bytes come, they are read or refused', () => {
  fc.assert(
    fc.property(anyObject, fc.array(fc.tuple(fc.nat(), fc.nat(7)), { maxLength: 4 }), fc.nat(), (given, flips, cut) => {
      const bytes = encodeObject(Everything, decode(Everything, parseExact(jsonText(given))));
      for (const [at, bit] of flips) bytes[4 + (at % (bytes.length - 4))]! ^= 1 << bit;
      readOrRefuse(bytes.subarray(0, 4 + (cut % (bytes.length - 3))));
      readOrRefuse(bytes);
    }),
    { numRuns: rounds(150) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      readOrRefuse(Buffer.concat([Buffer.from('k8s\0\x12'), varint(bytes.length), bytes]));
    }),
    { numRuns: rounds(1000) },
  );
});

test('an envelope names what it holds; anything else is refused', () => {
  const bytes = encodeEnvelope({ kind: 'Pod', apiVersion: 'v1', raw: Buffer.from('xyz') });
  expect(bytes.toString('latin1')).toBe('k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x03xyz\x1a\x00\x22\x00');
  expect(decodeEnvelope(bytes)).toEqual({ kind: 'Pod', apiVersion: 'v1', raw: Buffer.from('xyz'), contentEncoding: '', contentType: '' });
  expect(() => decodeEnvelope(Buffer.from('{"kind":"Pod"}'))).toThrow(
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  );
  expect(() => decodeEnvelope(Buffer.alloc(0))).toThrow('empty data');
  expect(() => decodeEnvelope(bytes.subarray(0, 9))).toThrow('unexpected EOF');
});

test('large objects grow the buffer and leave it as it was', () => {
  const Text = message('t.v1.Text', { texts: opt(1, list(string)) });
  const texts = ['x'.repeat(70_000), 'é'.repeat(600_000), 'short'];
  expect(decodeProtobuf(Text, encodeProtobuf(Text, { texts }))).toEqual({ texts });
  expect(decodeProtobuf(Text, encodeProtobuf(Text, { texts: ['a'] }))).toEqual({ texts: ['a'] });
});

test('a union in a map is never nothing: an empty list comes back, and stands for null', () => {
  const Holder = message('t.v1.UnionHolder', {
    by: opt(1, map(union('t.v1.NodeOrNames', { tag: 1, type: lazy(() => Node) }, { tag: 2, type: list(string) }))),
  });
  const object = decode(Holder, { by: { a: [], b: null, c: ['x'] } });
  expect(object).toEqual({ by: { a: [], b: [], c: ['x'] } });
  expect(encode(Holder, object)).toBe('{"by":{"a":[],"b":[],"c":["x"]}}');
  expect(decodeProtobuf(Holder, encodeProtobuf(Holder, object))).toEqual(object);
});

const Row = message('t.v1.Row', { name: opt(1, string), value: opt(2, string) });
const Large = object('t.v1.Large', {
  rows: opt(1, message('t.v1.Rows', { all: opt(1, list(message('t.v1.Table', { rows: opt(1, list(Row)) }))) })),
  labels: opt(2, map(string)),
  set: opt(3, fieldsV1),
  numbers: opt(4, list(int32)),
  extra: opt(5, map(boxed(list(string)))),
  node: ptr(6, Node),
  at: ptr(7, time),
});
/** A field with a length. */
const field = (tag: number, content: Buffer): Buffer => Buffer.concat([varint(tag * 8 + 2), varint(content.length), content]);

const rows = Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}`, value: 'v' }));
const keyed = <T>(value: T) => Object.fromEntries(rows.map(({ name }) => [`f:${name}`, value]));
const large = (given: object): Buffer => encodeProtobuf(Large, decode(Large, given));
test.each([
  ['a list of messages in messages', large({ rows: { all: [{ rows }] } })],
  ['a map', large({ labels: keyed('v') })],
  ['JSON', large({ set: keyed({}) })],
  ['one list in a map', large({ extra: { a: rows.map(({ name }) => name) } })],
  ['a map in a union', large({ node: { items: { byName: keyed({ name: 'x' }) } } })],
  ['numbers without their tags', field(4, Buffer.alloc(100_000, 1))],
  ['unknown fields', Buffer.alloc(100_000, field(99, Buffer.from('x')))],
  ['unknown fields of a time', field(7, Buffer.concat([Buffer.from([8, 1]), Buffer.alloc(90_000, field(9, Buffer.from('x')))]))],
  ['an unknown group', Buffer.concat([Buffer.from([0x4b]), Buffer.alloc(100_000, Buffer.from([8, 1])), Buffer.from([0x4c])])],
  ['a message that is repeated', Buffer.alloc(100_000, field(1, Buffer.alloc(0)))],
])('%s is read in as many steps as it has parts', (_, bytes) => {
  const work = decodedProtobuf(Large, bytes);
  let steps = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(steps).toBeGreaterThanOrEqual(Math.floor(bytes.length / BYTES_A_STEP) - 1);
  expect(JSON.stringify(step.value)).toBe(JSON.stringify(decodeProtobuf(Large, bytes)));
});

test('an envelope is opened in as many steps as it has parts', () => {
  const whole = encodeEnvelope({ kind: 'Pod', apiVersion: 'v1', raw: Buffer.from('xyz') });
  for (const part of [field(1, Buffer.alloc(0)), field(2, Buffer.from('b')), field(9, Buffer.alloc(0)), Buffer.from([0x4b, 0x4c])]) {
    const bytes = Buffer.concat([whole.subarray(0, 4), Buffer.alloc(90_000, part), whole.subarray(4)]);
    const work = decodedEnvelope(bytes);
    let steps = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) steps++;
    expect(steps).toBeGreaterThan(20);
    expect(step.value).toEqual(decodeEnvelope(whole));
  }
});

test('text that is not UTF-8 is refused by its place', () => {
  const bad = Buffer.from([0xff]);
  const entry = (key: Buffer, value: Buffer) => Buffer.concat([field(1, key), field(2, value)]);
  const a = Buffer.from('a');
  for (const [place, bytes] of [
    ['labels.a: ', field(2, entry(a, bad))],
    ['a key of labels: ', field(2, entry(bad, a))],
    ['rows.all[1].rows[0].value: ', field(1, Buffer.concat([field(1, Buffer.alloc(0)), field(1, field(1, field(2, bad)))]))],
    ['extra.a[1]: ', field(5, entry(a, Buffer.concat([field(1, a), field(1, bad)])))],
    ['node.items.byName.a.name: ', field(6, field(2, field(1, field(4, entry(a, field(1, bad))))))],
    ['node.items[0].name: ', field(6, field(2, field(2, field(1, bad))))],
    ['set: ', field(3, field(1, bad))],
  ] as const)
    expect(() => decodeProtobuf(Large, bytes)).toThrow(`${place}the text is not valid UTF-8`);
  expect(() => decodeEnvelope(Buffer.concat([Buffer.from('k8s\0'), field(4, bad)]))).toThrow('the text is not valid UTF-8');
});
