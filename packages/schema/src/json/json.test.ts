import { jsonText } from '@plat-dev/lib/json-text';
import { expect, test } from 'vitest';
import {
  always,
  bool,
  bytes,
  double,
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
import { applyDefaults, cacheText, DecodeError, decode, encode, encodeBytes, encodeWithEmptyLists, TextTooLong, toJson } from './index.ts';

const Owner = message('meta.v1.Owner', { name: req(3, string), controller: ptr(6, bool) });
const Meta = message('meta.v1.ObjectMeta', {
  name: opt(1, string),
  generation: opt(7, int64),
  creationTimestamp: always(8, time),
  labels: opt(11, map(string)),
  finalizers: opt(14, list(string)),
  ownerReferences: opt(13, list(Owner)),
});
const Port = message('core.v1.Port', { protocol: opt(1, string, { default: 'TCP' }), port: req(2, int32), target: opt(3, intOrString) });
const Spec = message('core.v1.ThingSpec', {
  replicas: ptr(1, int32, { default: 1 }),
  paused: opt(2, bool),
  ports: opt(3, list(Port, 'map', ['port'])),
  limits: opt(4, map(quantity)),
  selector: always(5, Owner, { nullable: true }),
  secret: opt(6, bytes),
  ratio: ptr(7, double),
  at: ptr(8, microTime),
  template: ptr(9, Owner),
});
const Thing = object('core.v1.Thing', {
  metadata: always(1, Meta),
  spec: always(2, Spec),
  data: opt(3, map(string)),
  rules: always(4, list(string)),
});

const thing = (more: object) => ({ kind: 'Thing', apiVersion: 'v1', metadata: { name: 'x' }, ...more });
const failure = (value: unknown): DecodeError => {
  try {
    decode(Thing, value);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    return error as DecodeError;
  }
  throw new Error('it was read');
};

test('decoding puts fields in order and drops what the schema does not know', () => {
  const read = decode(Thing, {
    data: { b: '2', a: '1' },
    Data: { c: '3' },
    metadata: { labels: { z: '1', a: '2' }, name: 'x', extra: 1 },
    kind: 'Thing',
  });
  expect(JSON.stringify(read)).toBe(
    '{"kind":"Thing","metadata":{"name":"x","labels":{"a":"2","z":"1"}},"spec":{},"data":{"a":"1","b":"2"}}',
  );
});

test('empty values that JSON leaves out are left out; pointers keep theirs', () => {
  const read = decode(Thing, {
    kind: '',
    metadata: { name: '', generation: 0, labels: {}, finalizers: [] },
    spec: { replicas: 0, paused: false, ports: [], limits: {}, secret: '', ratio: 0, template: {} },
    data: null,
  });
  expect(read).toEqual({ metadata: {}, spec: { replicas: 0, ratio: 0, template: { name: '' } } });
});

test('null in a list or a map is its zero value', () => {
  expect(decode(Thing, thing({ data: { a: null }, spec: { ports: [null], limits: { cpu: null } } }))).toMatchObject({
    data: { a: '' },
    spec: { ports: [{ port: 0 }], limits: { cpu: '0' } },
  });
});

test('quantities, times and bytes take their canonical form', () => {
  const read = decode(Thing, {
    metadata: { creationTimestamp: '2020-01-01T02:00:00.9+02:00' },
    spec: { limits: { cpu: 0.5, memory: '1024Mi' }, secret: 'YR==\n', at: '2021-01-01T00:00:00.123456Z' },
  });
  expect(read.metadata.creationTimestamp).toBe('2020-01-01T00:00:00Z');
  expect(read.spec).toEqual({ limits: { cpu: '500m', memory: '1Gi' }, secret: 'YQ==', at: '2021-01-01T00:00:00.123456Z' });
  expect(decode(Thing, { metadata: { creationTimestamp: '0001-01-01T00:00:00Z' } }).metadata).toEqual({});
});

test('what is decoded shares nothing with what was given', () => {
  const Holder = message('t.v1.Holder', { raw: opt(1, raw), json: opt(2, list(json)), map: opt(3, map(string)) });
  const given = { raw: { a: { b: 1 } }, json: [{ c: 1 }, null], map: { d: '1' } };
  const read = decode(Holder, given);
  expect(read).toEqual(given);
  given.raw.a.b = 2;
  given.map.d = '2';
  (given.json[0] as { c: number }).c = 2;
  expect(read).toEqual({ raw: { a: { b: 1 } }, json: [{ c: 1 }, null], map: { d: '1' } });
});

test('messages that keep unknown fields keep them after the known ones, as they are', () => {
  const Loose = object('t.v1.Loose', { metadata: always(1, Meta) }, { unknown: 'keep' });
  const read = decode(Loose, { spec: { a: [], b: null }, metadata: { name: 'x', extra: 1 }, kind: 'Loose' });
  expect(JSON.stringify(read)).toBe('{"kind":"Loose","metadata":{"name":"x"},"spec":{"a":[],"b":null}}');
  expect(encode(Loose, read)).toBe('{"kind":"Loose","metadata":{"name":"x","creationTimestamp":null},"spec":{"a":[],"b":null}}');
  expect(toJson(Loose, read)).toEqual(JSON.parse(encode(Loose, read)));
});

// The words are those of a stock server, recorded in the parity suites.
test.each([
  [{ metadata: 'x' }, 'metadata', 'string into Go struct field Thing.metadata of type v1.ObjectMeta'],
  [{ metadata: [] }, 'metadata', 'array into Go struct field Thing.metadata of type v1.ObjectMeta'],
  [{ metadata: { name: 7 } }, 'metadata.name', 'number into Go struct field ObjectMeta.metadata.name of type string'],
  [{ metadata: { labels: { a: 1 } } }, 'metadata.labels.a', 'number into Go struct field ObjectMeta.metadata.labels of type string'],
  [{ metadata: { labels: ['a'] } }, 'metadata.labels', 'array into Go struct field ObjectMeta.metadata.labels of type map[string]string'],
  [{ metadata: { finalizers: 'a' } }, 'metadata.finalizers', 'string into Go struct field ObjectMeta.metadata.finalizers of type []string'],
  [
    { metadata: { ownerReferences: [{ controller: 'yes' }] } },
    'metadata.ownerReferences[0].controller',
    'string into Go struct field Owner.metadata.ownerReferences.controller of type bool',
  ],
  [{ metadata: { generation: '1' } }, 'metadata.generation', 'string into Go struct field ObjectMeta.metadata.generation of type int64'],
  [{ data: { a: { b: 'c' } } }, 'data.a', 'object into Go struct field Thing.data of type string'],
  [{ spec: { replicas: 2.5 } }, 'spec.replicas', 'number 2.5 into Go struct field ThingSpec.spec.replicas of type int32'],
  [{ spec: { replicas: 4294967296 } }, 'spec.replicas', 'number 4294967296 into Go struct field ThingSpec.spec.replicas of type int32'],
  [{ spec: { secret: 1 } }, 'spec.secret', 'number into Go struct field ThingSpec.spec.secret of type []uint8'],
  // Numbers or texts, and times, are named by what they are made from, at the field of the nearest message.
  [
    { spec: { ports: [{}, { target: 1.5 }] } },
    'spec.ports[1].target',
    'number 1.5 into Go struct field Port.spec.ports.target of type int32',
  ],
  [{ spec: { ports: [{ target: true }] } }, 'spec.ports[0].target', 'bool into Go struct field Port.spec.ports.target of type int32'],
  [{ spec: { at: 5 } }, 'spec.at', 'number into Go struct field ThingSpec.spec.at of type string'],
  [
    { metadata: { creationTimestamp: {} } },
    'metadata.creationTimestamp',
    'object into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  ],
  ['text', '', 'string into Go value of type v1.Thing'],
])('%j is refused in the words clients know', (given, path, words) => {
  const error = failure(given);
  expect([error.path, error.message]).toEqual([path, `json: cannot unmarshal ${words}`]);
});

test('types that read their own text report in their own words', () => {
  expect(failure({ spec: { limits: { cpu: '5kk' } } })).toMatchObject({
    path: 'spec.limits.cpu',
    message: "unable to parse quantity's suffix",
  });
  expect(failure({ spec: { limits: { cpu: true } } }).message).toMatch(/^quantities must match the regular expression/);
  expect(failure({ spec: { limits: { cpu: `${'0'.repeat(2 ** 20)}x` } } }).message).toMatch(/quantit/);
  expect(failure({ metadata: { creationTimestamp: 'yesterday' } }).message).toBe(
    'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  );
  expect(failure({ spec: { secret: '***' } }).message).toBe('illegal base64 data at input byte 0');
});

test('encoding follows the schema whatever the order of the object, and writes null or zero where a field always shows', () => {
  const text =
    '{"kind":"Thing","metadata":{"name":"x","creationTimestamp":null},"spec":{"ports":[{"protocol":"UDP","port":0,"target":"http"}],"selector":null},"data":{"10":"c","9":"b","a":"\\"\\\\\\né😀"},"rules":null}';
  const object = {
    data: { a: '"\\\né😀', '9': 'b', '10': 'c' },
    spec: { ports: [{ port: 0, target: 'http', protocol: 'UDP' }], paused: false, limits: {} },
    rules: [],
    metadata: { name: 'x', generation: 0 },
    kind: 'Thing',
  };
  expect(encode(Thing, object)).toBe(text);
  expect(encodeBytes(Thing, object).toString()).toBe(text);
  expect(toJson(Thing, object)).toEqual(JSON.parse(text));
  expect(decode(Thing, JSON.parse(text))).toEqual({
    ...object,
    metadata: { name: 'x' },
    spec: { ports: object.spec.ports },
    rules: undefined,
  });
  expect(encode(Thing, {})).toBe('{"metadata":{"creationTimestamp":null},"spec":{"selector":null},"rules":null}');
});

test('an empty list that is always written is null, unless what was said is wanted', () => {
  const rest = { metadata: { creationTimestamp: null }, spec: { selector: null } };
  const said = decode(Thing, { rules: [], data: {}, spec: { ports: [] } });
  expect(JSON.parse(encode(Thing, said))).toEqual({ ...rest, rules: null });
  expect(JSON.parse(encodeWithEmptyLists(Thing, said))).toEqual({ ...rest, rules: [] });
  expect(JSON.parse(encodeWithEmptyLists(Thing, decode(Thing, { rules: null })))).toEqual({ ...rest, rules: null });
  expect(JSON.parse(encode(Thing, said))).toEqual({ ...rest, rules: null });
});

test('large objects are written whole, and small ones after them', () => {
  const data = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key-${i}`, (i % 2 === 0 ? 'x' : 'é').repeat(i * 3000)]));
  expect(JSON.parse(encode(Thing, thing({ data }))).data).toEqual(data);
  expect(JSON.parse(encodeBytes(Thing, thing({ data: { a: '1' } })).toString()).data).toEqual({ a: '1' });
});

test('inline messages stand beside the other fields', () => {
  const Source = message('core.v1.Source', { path: opt(1, string), size: always(2, int32) });
  const Volume = message('core.v1.Volume', { name: req(1, string), source: inline(2, Source) });
  expect(decode(Volume, { path: '/x', name: 'v' })).toEqual({ name: 'v', path: '/x', size: 0 });
  expect(encode(Volume, { path: '/x', name: 'v' })).toBe('{"name":"v","path":"/x","size":0}');
});

test('a schema may contain itself, and unions follow the JSON type', () => {
  const Node: MessageType = message('t.v1.Node', {
    name: opt(1, string),
    items: ptr(2, union('t.v1.NodeOrList', { tag: 1, type: lazy(() => Node) }, { tag: 2, type: list(lazy(() => Node)) })),
    more: ptr(3, union('t.v1.NodeOrBool', { tag: 2, type: lazy(() => Node) }, { tag: 1, type: bool })),
    byName: opt(4, map(lazy(() => Node))),
  });
  const tree = { name: 'a', items: [{ name: 'b' }, { more: false }], more: { items: { name: 'c' } }, byName: { d: {} } };
  expect(decode(Node, { ...tree, other: 1 })).toEqual(tree);
  expect(JSON.parse(encode(Node, tree))).toEqual(tree);
  expect(() => decode(Node, { more: 'yes' })).toThrow('cannot unmarshal string into Go struct field Node.more of type bool');
});

test('defaults are filled in where something is there to hold them', () => {
  const object = decode(Thing, { spec: { ports: [{ port: 1 }, { port: 2, protocol: 'UDP' }] } });
  applyDefaults(Thing, object);
  expect(object.spec).toEqual({
    replicas: 1,
    ports: [
      { port: 1, protocol: 'TCP' },
      { port: 2, protocol: 'UDP' },
    ],
  });
  const before = JSON.stringify(object);
  applyDefaults(Thing, object);
  expect(JSON.stringify(object)).toBe(before);
});

test('keys that touch the prototype are keys like any other', () => {
  const hostile = JSON.parse(
    '{"data":{"__proto__":"1","constructor":"2"},"metadata":{"labels":{"z":"","__proto__":"3"}},"__proto__":{"polluted":true}}',
  );
  const read = decode(Thing, hostile);
  expect(Object.keys(read.data ?? {})).toEqual(['__proto__', 'constructor']);
  expect(encode(Thing, read)).toContain('"data":{"__proto__":"1","constructor":"2"}');
  expect(encode(Thing, read)).toContain('"labels":{"__proto__":"3","z":""}');
  expect((toJson(Thing, read) as { data: object }).data).toEqual(read.data);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();

  const Loose = object('t.v1.Loose', {}, { unknown: 'keep' });
  expect(encode(Loose, decode(Loose, hostile))).toContain('"__proto__":{"polluted":true}');
  const Odd = message('t.v1.Odd', { constructor: opt(1, string), toString: ptr(2, int32) });
  expect(decode(Odd, {})).toEqual({});
  expect(encode(Odd, {})).toBe('{}');
});

test('a set whose text is kept is written as any other, again and again', () => {
  const Entry = message('meta.v1.Entry', { manager: opt(1, string), fieldsV1: opt(7, fieldsV1), subresource: opt(8, string) });
  const set = { 'f:metadata': { 'f:labels': { '.': {}, 'f:größe "x"': {} } }, 'f:spec': {} };
  const entry = { subresource: 'status', fieldsV1: set, manager: 'm' };
  const text = `{"manager":"m","fieldsV1":${jsonText(set)},"subresource":"status"}`;
  expect(encode(Entry, entry)).toBe(text);
  cacheText(set);
  for (let i = 0; i < 3; i++) expect(encode(Entry, entry)).toBe(text);
  expect(encodeBytes(Entry, entry, 5).subarray(5).toString()).toBe(text);
});

test('texts of any length are written as JSON writes them', () => {
  const Note = message('t.v1.Note', { text: opt(1, string), more: opt(2, string) });
  for (const length of [1, 31, 32, 33, 34, 100, 5000])
    for (const odd of ['', '"', '\\', '\n', '\u007f', 'é', '😀', '\ud800']) {
      const text = 'a'.repeat(length - 1) + odd;
      for (const one of [text, odd + text, `${text}b`]) {
        const note = { text: `${one}.`, more: 'after' };
        expect(encode(Note, note)).toBe(JSON.stringify(note));
        expect(encodeBytes(Note, note).toString()).toBe(JSON.stringify(note));
      }
    }
});

test('a text that is longer than can be used is not made to its end', () => {
  let read = 0;
  const item = {
    get name() {
      read++;
      return 'x'.repeat(100);
    },
  };
  const Owners = message('t.v1.Owners', { owners: opt(1, list(Owner)) });
  const owners = Array.from({ length: 100_000 }, () => item);
  expect(() => encodeBytes(Owners, { owners }, 0, 2 ** 20)).toThrow(TextTooLong);
  expect(read).toBeLessThan(25_000);
  expect(encodeBytes(Owners, { owners: [item] }, 0, 2 ** 20).toString()).toBe(`{"owners":[{"name":"${'x'.repeat(100)}"}]}`);
  expect(encodeBytes(Owners, { owners }).length).toBe(100_000 * 112 + 12);
  expect(encode(Owners, { owners })).toHaveLength(100_000 * 112 + 12);
});
