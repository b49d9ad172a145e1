import { expect, test } from 'vitest';
import {
  BOOL,
  type CelError,
  type CelType,
  compile,
  DYN,
  INT,
  listOf,
  mapOf,
  objectOf,
  STRING,
  showType,
  type Variables,
} from './index.ts';

const types: Variables = {
  self: objectOf('Thing', {
    replicas: INT,
    name: STRING,
    labels: mapOf(STRING, STRING),
    items: listOf(objectOf('Item', { key: STRING, weight: { kind: 'double' } })),
    anything: DYN,
    maybe: { kind: 'int', nullable: true },
    when: { kind: 'timestamp' },
  }),
  'a.b': INT,
};

test.each<[string, string]>([
  ['self.replicas + 1', 'int'],
  ['self.labels', 'map(string, string)'],
  ['self.labels.app', 'string'],
  ["self.labels['app']", 'string'],
  ['self.items.map(i, i.weight)', 'list(double)'],
  ['self.items.filter(i, i.key == "a")', 'list(Item)'],
  ['self.labels.all(k, k != "")', 'bool'],
  ['self.anything.whatever[1].more', 'dyn'],
  ['self.anything + 1', 'int'],
  ['[1, "a"]', 'list(dyn)'],
  ['[1, 2.0]', 'list(dyn)'],
  ["{'a': 1, 'b': 2}", 'map(string, int)'],
  ['true ? self.anything : 1', 'dyn'],
  ['self.when - self.when', 'google.protobuf.Duration'],
  ['a.b + 1', 'int'],
  ['self.?name', 'optional_type(string)'],
  ["self.?name.orValue('x')", 'string'],
  ['type(1)', 'type'],
  ['cel.bind(n, self.name, n + n)', 'string'],
  ['self.items.exists_one(i, i.weight > 1.0)', 'bool'],
  ["'a,b'.split(',')", 'list(string)'],
  ["quantity('1').add(1)", 'kubernetes.Quantity'],
])('%s is of type %s', (source, type) => {
  expect(showType(compile(source, types).type)).toBe(type);
});

test.each<[string, string, number]>([
  ['nothing', "undeclared reference to 'nothing' (in container '')", 1],
  ['self.replica == 1', "undefined field 'replica'", 5],
  ['self.replicas.x', "type 'int' does not support field selection", 14],
  ['self.replicas + "a"', "found no matching overload for '_+_' applied to '(int, string)'", 15],
  ['self.replicas == "a"', "found no matching overload for '_==_' applied to '(int, string)'", 15],
  ['self.replicas == null', "found no matching overload for '_==_' applied to '(int, null)'", 15],
  ['self.name.contains(1)', "found no matching overload for 'contains' applied to 'string.(int)'", 19],
  ['self.name.nothing()', "undeclared reference to 'nothing' (in container '')", 18],
  ['size(1)', "found no matching overload for 'size' applied to '(int)'", 5],
  ['1 && true', "found no matching overload for '_&&_' applied to '(int, bool)'", 3],
  ['true ? 1 : "a"', "found no matching overload for '_?_:_' applied to '(bool, int, string)'", 6],
  ['self.name.all(c, true)', "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)", 5],
  ['self.items.all(i, i.key)', "expected type 'bool' but found 'string'", 20],
  ['self.items.all(i, true) && i == 1', "undeclared reference to 'i' (in container '')", 28],
  ['{1.5: 1}', 'unsupported key type: double', 2],
  ['Thing{replicas: 1}', "undeclared reference to 'Thing' (in container '')", 6],
  ['[1].all(x, x, x)', 'duplicate variable name: x', 12],
])('%s does not compile', (source, message, column) => {
  let caught: unknown;
  try {
    compile(source, types);
  } catch (error) {
    caught = error;
  }
  expect((caught as CelError).issues).toEqual([{ line: 1, column, message }]);
});

test('a null may be compared where one may stand', () => {
  for (const source of ['self.maybe == null', 'self.items[0] == null', 'self.anything == null', 'self.when == null'])
    expect(compile(source, types).type.kind).toBe('bool');
});

test('every issue is reported, within a bound', () => {
  const caught = (source: string): CelError => {
    try {
      compile(source, types);
    } catch (error) {
      return error as CelError;
    }
    throw new Error('it compiles');
  };
  expect(caught('nothing && self.x && 1 + "a" == 2').issues).toHaveLength(3);
  expect(caught(Array(500).fill('nothing').join('||')).issues).toHaveLength(20);
});

test('the result has the type that is asked for', () => {
  const compileTo = (result: CelType) => () => compile('self.replicas', types, { result });
  expect(compileTo(BOOL)).toThrow("expected type 'bool' but found 'int'");
  expect(compileTo(INT)().type).toEqual(INT);
});

test('a program names the variables that it uses', () => {
  const both: Variables = { self: INT, oldSelf: INT };
  expect([...compile('self > oldSelf', both).variables]).toEqual(['self', 'oldSelf']);
  expect([...compile('self > 1', both).variables]).toEqual(['self']);
  expect([...compile('[1].all(oldSelf, oldSelf > 0)', both).variables]).toEqual([]);
});

test('a regular expression that the source spells out is checked with it', () => {
  expect(() => compile("self.name.matches('a(b')", types)).toThrow('error parsing regexp: missing closing )');
  expect(() => compile("self.name.matches('(?=a)')", types)).toThrow('invalid or unsupported Perl syntax');
  const large = Array(4).fill("self.name.matches('a{1000}b{1000}c{1000}d{1000}e{1000}f{1000}')").join(' || ');
  expect(() => compile(large, types)).toThrow('the regular expressions of the expression are too large');
});
