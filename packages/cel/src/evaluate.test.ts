import { expect, test } from 'vitest';
import { comeTo, evaluate, fail } from './cases.testing.ts';
import { DYN, INT, listOf, mapOf, objectOf, STRING, type Variables } from './index.ts';

comeTo('integers', {
  '7 / 2': 3,
  '-7 / 2': -3,
  '-7 % 3': -1,
  '9007199254740991 + 2': 9007199254740993n,
  '9007199254740993 - 2': 9007199254740991,
  '4294967296 * 1073741824': 4611686018427387904n,
  '9223372036854775807 - 1 == 9223372036854775806': true,
  '-9223372036854775808 < 0': true,
  '5u - 2u': '3u',
  '0 * -1': 0,
});
fail('integers', {
  '9223372036854775807 + 1': 'integer overflow',
  '-9223372036854775808 - 1': 'integer overflow',
  '-(-9223372036854775808)': 'integer overflow',
  '9223372036854775807 * 2': 'integer overflow',
  '-9223372036854775808 / -1': 'integer overflow',
  '1 / 0': 'division by zero',
  '1 % 0': 'modulus by zero',
  '1u - 2u': 'unsigned integer overflow',
  'int(1e19)': 'integer overflow',
  'uint(-1)': 'unsigned integer overflow',
  "int('12x')": "type conversion error from 'string' to 'int'",
});
comeTo('doubles', {
  '1.0 / 0.0': Number.POSITIVE_INFINITY,
  '0.0 / 0.0 == 0.0 / 0.0': false,
  '0.1 + 0.2 < 0.4': true,
  '3.0 / 2.0': 1.5,
});
comeTo('numbers of different types', {
  'dyn(1) == 1.0': true,
  'dyn(1u) == 1': true,
  'dyn(1.0) == 1u': true,
  '1 < 1.5': true,
  '2u > 1.5': true,
  '9007199254740993 > 9007199254740992.0': true,
  'dyn(1) in [1.0]': true,
  "{1: 'a'}[dyn(1.0)]": 'a',
  '[7, 8][dyn(1u)]': 8,
  'type(dyn(1.0))': 'type double',
  'type(dyn(1.0) + 1.0)': 'type double',
  '[1.0, 2][0] == 1': true,
  'type([1.0][0])': 'type double',
  'true ? 1.0 : dyn(1)': 1,
});
comeTo('conversions', {
  "int('-42')": -42,
  'int(3.99)': 3,
  'int(-3.99)': -3,
  'uint(3)': '3u',
  "double('1.5')": 1.5,
  'double(2)': 2,
  'string(1.5)': '1.5',
  'string(true)': 'true',
  'string(-12)': '-12',
  "string(b'abc')": 'abc',
  "bytes('é')": 'bytes c3a9',
  "bool('true')": true,
  "type(1) == int && type('') == string && type([]) == list && type(null) == null_type": true,
  'type(type(1)) == type': true,
  "string(timestamp('2024-02-29T12:00:00.5+01:00'))": '2024-02-29T11:00:00.5Z',
  "string(duration('1h30m'))": '5400s',
  "int(timestamp('1970-01-01T00:01:00Z'))": 60,
});
fail('conversions', {
  "string(b'\\xff')": 'invalid UTF-8',
  "bool('yes')": 'type conversion error',
  "timestamp('tomorrow')": 'parsing time',
});

comeTo('lists and maps', {
  '[1, 2] + [3]': [1, 2, 3],
  '[1, [2, {}]] == [1, [2, {}]]': true,
  'dyn([1]) == [1.0]': true,
  "dyn({'a': 1}) == {'a': 1.0}": true,
  "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}": true,
  "{'a': 1} == {'a': 2}": false,
  '[1] == [1, 2]': false,
  "'a' in {'a': null}": true,
  "size({'a': 1}) + size([1, 2]) + size('é') + size(b'é')": 6,
  "{'a': null}.a": null,
  '[null][0]': null,
  "{true: 'yes'}[true]": 'yes',
  "has({'a': 1}.a) && !has({'a': 1}.b)": true,
  'dyn([1]) == dyn({})': false,
});
fail('lists and maps', {
  '[1][1]': 'index out of bounds: 1',
  '[1][-1]': 'index out of bounds: -1',
  "{'a': 1}['b']": 'no such key: b',
  "{'a': 1}.b": 'no such key: b',
  "{'a': 1, 'a': 2}": 'repeated key',
  "dyn(1) + dyn('a')": 'no such overload',
  'dyn(1).a': 'no such overload',
  '!dyn(1)': 'no such overload',
});

comeTo('logic absorbs failures', {
  'false && 1 / 0 == 1': false,
  '1 / 0 == 1 && false': false,
  'true || 1 / 0 == 1': true,
  '1 / 0 == 1 || true': true,
  'true ? 1 : 1 / 0': 1,
  '[1, 0].exists(x, 1 / x == 1)': true,
  '[0, 1].exists(x, 1 / x == 1)': true,
  '[0, 2].all(x, 1 / x == 1)': false,
});
fail('logic', {
  'true && 1 / 0 == 1': 'division by zero',
  '1 / 0 == 1 || false': 'division by zero',
  '1 / 0 == 1 ? 1 : 2': 'division by zero',
  '[0, 1].all(x, 1 / x == 1)': 'division by zero',
  '[0, 1].exists_one(x, 1 / x == 1)': 'division by zero',
  'dyn(1) || false': 'no such overload',
});

comeTo('macros', {
  '[1, 2, 3].all(x, x > 0)': true,
  '[].all(x, false)': true,
  '[].exists(x, true)': false,
  '[1, 2, 2].exists_one(x, x == 2)': false,
  '[1, 2, 3].existsOne(x, x == 2)': true,
  '[1, 2, 3].map(x, x * 2)': [2, 4, 6],
  '[1, 2, 3].map(x, x > 1, x * 2)': [4, 6],
  '[1, 2, 3].filter(x, x != 2)': [1, 3],
  "{'a': 1, 'b': 2}.map(k, k)": ['a', 'b'],
  "{'a': 1, 'b': 2}.all(k, v, k != '' && v > 0)": true,
  '[5, 6].exists(i, v, i == 1 && v == 6)': true,
  '[5, 6].transformList(i, v, i + v)': [5, 7],
  "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)": { b: 20 },
  "['a', 'b'].transformMapEntry(i, v, {v: i})": { a: 0, b: 1 },
  '[[1, 2], [3]].map(l, l.map(x, x + size(l)))': [[3, 4], [4]],
  '[1].all(x, [2].all(x, x == 2) && x == 1)': true,
  'cel.bind(a, [1, 2], a + a)': [1, 2, 1, 2],
  '[1.5, 2.0].map(x, x + 1.0)': [2.5, 3],
  "cel.bind(x, 'a', [1].map(y, x + string(y)))": ['a1'],
});

const api = {
  self: {
    replicas: 3,
    big: 9007199254740993n,
    ratio: 2,
    name: 'web',
    'with-dash': 'yes',
    labels: { app: 'web', constructor: 'me' },
    when: '2024-01-02T03:04:05Z',
    times: ['2024-01-02T03:04:05Z', '2024-01-02T04:04:05+01:00'],
    grace: '1m30s',
    data: 'AQI=',
    empty: null,
    nulls: { a: null },
    port: 'http',
    ports: [80, 'http'],
    tags: ['a', 'b'],
    rows: [
      { key: 'x', value: 1 },
      { key: 'y', value: 2 },
    ],
  },
  other: {
    tags: ['b', 'a'],
    rows: [
      { key: 'y', value: 2 },
      { key: 'x', value: 1 },
    ],
    labels: {},
  },
};
const row = objectOf('Row', { key: STRING, value: INT });
const fields = objectOf('Self', {
  replicas: INT,
  big: INT,
  ratio: { kind: 'double' },
  name: STRING,
  labels: mapOf(STRING, STRING),
  when: { kind: 'timestamp' },
  times: listOf({ kind: 'timestamp' }),
  grace: { kind: 'duration' },
  data: { kind: 'bytes' },
  empty: { kind: 'string', nullable: true },
  nulls: mapOf(STRING, { kind: 'string', nullable: true }),
  absent: STRING,
  toString: STRING,
  port: DYN,
  ports: listOf(DYN),
  tags: { kind: 'list', of: STRING, listType: 'set' },
  rows: { kind: 'list', of: row, listType: 'map', keys: ['key'] },
});
const self = { ...fields, fields: new Map([...fields.fields, ['with__dash__dash', { property: 'with-dash', type: STRING }]]) };
const types: Variables = { self, other: self };

comeTo(
  'values of the API',
  {
    'self.replicas <= 10': true,
    'self.big + 1': 9007199254740994n,
    'self.big == 9007199254740993': true,
    'self.ratio / 4.0': 0.5,
    'type(self.ratio) == double': true,
    'self.with__dash__dash': 'yes',
    "self.labels.app + self.labels['app']": 'webweb',
    'has(self.labels.app) && !has(self.labels.toString)': true,
    'self.labels.constructor': 'me',
    'has(self.absent) || has(self.toString)': false,
    'has(self.empty)': false,
    'has(self.nulls.a) && self.nulls.a == null': true,
    'self.when.getFullYear()': 2024,
    'self.times[0] == self.times[1] && self.when in self.times': true,
    'self.times.all(t, t == self.when)': true,
    'self.grace == duration("90s")': true,
    'size(self.data)': 2,
    "self.port == 'http' && self.ports[0] == 80": true,
    'type(self.port) == string ? self.port : string(self.port)': 'http',
    'self.labels.map(k, k)': ['app', 'constructor'],
    'self.tags == other.tags && self.rows == other.rows': true,
    'self.rows[0] == other.rows[0]': false,
    "self.tags + ['c', 'a']": ['a', 'b', 'c'],
    'self.rows + other.rows == self.rows': true,
    '(self.rows + other.rows.filter(r, r.value > 1)).map(r, r.key)': ['x', 'y'],
  },
  api,
  types,
);
fail(
  'values of the API',
  {
    'self.absent == "a"': 'no such key: absent',
    'self.empty == null': 'no such key: empty',
    'self.toString == "a"': 'no such key: toString',
    'self.labels.toString': 'no such key',
  },
  api,
  types,
);

comeTo('optional values', {
  "{'a': 1}.?a": { value: 1 },
  "{'a': 1}.?b": 'none',
  "{'a': 1}.?b.orValue(5)": 5,
  "{'a': {'b': 1}}.?a.?b.orValue(5)": 1,
  "{'a': {'b': 1}}.?a.c.orValue(5)": 5,
  "{'a': {}}.?a.b.c.hasValue()": false,
  '[1][?5].orValue(0)': 0,
  '[1][?0].value()': 1,
  '[1, ?optional.none(), ?optional.of(2)]': [1, 2],
  "{?'a': optional.none(), 'b': 1}": { b: 1 },
  'optional.ofNonZeroValue(0).hasValue()': false,
  'optional.of(1).or(optional.of(2))': { value: 1 },
  'optional.none().or(optional.of(2))': { value: 2 },
  'optional.of(2).optMap(x, x * 2)': { value: 4 },
  'optional.of(2).optFlatMap(x, optional.none())': 'none',
  'optional.of(1).orValue(1 / 0)': 1,
  'has({}.?x.y)': false,
  "has({'x': {'y': 1}}.?x.y)": true,
});
fail('optional values', { 'optional.none().value()': 'optional.none() dereference' });

test('values are left as they are', () => {
  const frozen = Object.freeze({ list: Object.freeze([3, 1, 2]) });
  expect(evaluate('self.list.sort() + self.list', { self: frozen }, { self: objectOf('S', { list: listOf(INT) }) })).toEqual([
    1, 2, 3, 3, 1, 2,
  ]);
});

test('values that nest deeper than the stack are an error of the evaluation', () => {
  let deep: unknown = [];
  let other: unknown = [];
  for (let i = 0; i < 50_000; i++) {
    deep = [deep];
    other = [other];
  }
  expect(() => evaluate('a == b', { a: deep, b: other }, { a: DYN, b: DYN })).toThrow('nests too deeply');
});
