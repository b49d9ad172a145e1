/** What a stock server counts, before and while an expression runs. The figures are those that its public tests and recordings show. */
import { expect, test } from 'vitest';
import {
  CostBudget,
  CostExceeded,
  compile,
  DYN,
  environmentOf,
  INT,
  listOf,
  mapOf,
  optionalOf,
  STRING,
  stringOf,
  type Variables,
} from './index.ts';

const types: Variables = {
  n: INT,
  text: stringOf(500),
  free: STRING,
  list: listOf(INT, 5),
  texts: listOf(stringOf(10), 5),
  map: mapOf(STRING, mapOf(STRING, INT), 5),
  any: DYN,
  maybe: optionalOf(INT),
};
const values = {
  ...{ n: 3, text: 'x'.repeat(500), free: 'abc', list: [1, 2, 3, 4, 5], texts: ['aa', 'bb', 'cc'] },
  ...{ map: { a: { single: 1 } }, any: { a: { b: 1 } }, maybe: undefined },
};
const environment = environmentOf('1.36');
const spent = (source: string): number => {
  const budget = new CostBudget(1_000_000, 1_000_000);
  compile(source, types, { environment }).evaluate(values, budget);
  return 1_000_000 - budget.cost;
};

test.each<[string, number]>([
  ["'Hello World!'", 0],
  ['n', 1],
  ['any.a', 2],
  ["any['a']", 2],
  ["any['' + 'a']", 3],
  ['list[0]', 2],
  // What is spelled out is made once, and what leads to it is no name.
  ['[1, 2, 3][0]', 2],
  // A name as an index is not counted.
  ['list[n]', 2],
  ['has(any.a)', 1],
  ['has(any.a.b)', 2],
  ['[1, 2, 3]', 0],
  ["{'a': 1}", 0],
  ["[duration('1s')]", 0],
  ['[n, 2]', 11],
  ["{'a': n}", 31],
  ['[1, 2, 3].all(x, true)', 10],
  ["text.matches('abcd')", 1 + 51],
  ["'123'.matches('[0-9]')", 2],
  ['true || n == 3', 0],
  ['n == 1 || n == 2', 4],
  ['1 < 2', 1],
  ['2 in [1, 2, 3]', 0],
  ['n in list', 2 + 5],
  ['true ? n : n', 0],
  ['n > 2 ? any.a : any', 3],
  ['(n > 2 ? list : list).all(y, true)', 2 + 15 + 1],
  ["'12345678901234567890' == '123456789012345678901234567890'", 2],
  ['string(bytes(text)).size()', 1 + 50 + 50 + 1],
  ['string(n)', 2],
  ['text.contains(text)', 2 + 2500],
  ['free.startsWith(text)', 3],
  ['list.filter(x, x % 2 == 0)', 1 + 5 * 3 + 2 * 13 + 1],
  ['list.map(x, x)', 1 + 5 * 13 + 1],
  ['list.map(x, 1)', 1 + 5 * 2 + 1],
  ['list.exists(x, x == 1)', 1 + 6 + 3 + 1],
  ['list.exists(x, x == 5)', 1 + 5 * 6 + 1],
  ['list.all(x, x < 1)', 1 + 5 + 2 + 1],
  ['list.exists_one(x, x == 1)', 1 + 5 * 2 + 2 + 2],
  ['map.all(k, map[k].single > 0)', 1 + 3 + 4 + 1],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v + 1).size() > 0", 11 + 2],
  ["{'a': 1, 'b': 2}.transformMapEntry(k, v, {k: v + 1}).size() > 0", 71 + 2],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3],
  ["'abc 123 def 123'.replace('123', '')", 3],
  ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 5],
  ["texts.indexOf('x')", 1],
  ['list.sum()', 6],
  ["'abc 123 def 123'.findAll('123')", 2],
  ["quantity('200M') == quantity('200M')", 3],
  ["quantity('50k').add(20).sub(quantity('100k')).asInteger() > 0", 6],
  ["url('https://kubernetes.io/').getHost()", 4],
  ["ip('2001:db8:3333:4444:5555:6666:7777:8888').family()", 5],
  ["ip('192.168.0.1') == ip('192.168.0.1')", 5],
  ["ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8],
  ["cidr('192.168.0.0/16').containsCIDR('192.0.0.0/30')", 2 + 5],
  ["cidr('192.168.0.0/16').containsIP(ip('192.169.0.1'))", 2 + 3],
  ['sets.contains([1, 2, 3, 4], [2, 3])', 9],
  ['sets.equivalent([1, 2, 3], [3, 2, 1])', 19],
  ["semver('1234.56789012345.67890123456789').major()", 5],
  ['list.sort()', 1 + 11 + 50],
  ['texts.sort()', 1 + 11 + Math.floor(9 * 2.1)],
  ['list.slice(1, 3)', 1 + 11 + 2],
  ['list.reverse()', 1 + 11 + 5],
  ['list.distinct()', 1 + 11 + 50],
  ['[list].flatten()', 1 + 10 + 11 + 1],
  ['lists.range(7)', 11 + 7],
  ['list.sortBy(x, -x)', 1 + 1 + (1 + 5 * 14 + 1) + 11 + 50],
  ['optional.of(n).orValue(1)', 2],
  ['optional.of(n).optMap(x, x + 1).hasValue()', 2 + 1 + 2 + 1 + 2 + 1 + 1],
])('%s costs %d', (source, cost) => {
  expect(spent(source)).toBe(cost);
});

test.each<[string, number, number]>([
  ['[1, 2, 3].sum()', 13, 13],
  // Nothing is known of the items of a list that is spelled out.
  ["['a', 'b'].max()", 12, Number.POSITIVE_INFINITY],
  ['texts.max()', 1, 1 + 5 * 2],
  ["'abc'.indexOf('b')", 1, 1],
  ["url('https://kubernetes.io/').getQuery()", 4, 4],
  ["strings.quote('ABCDEFGHIJ abcdefghij')", 3, 3],
  ["'abc 123 def 123'.split(' ')", 3, 3],
  ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 11, Number.POSITIVE_INFINITY],
  ["texts.join(' ')", 1, 1 + 6],
  ['list.filter(x, x > 0)', 12, 2 + 10 + 5 * 15],
  ['list.exists_one(x, x > 0)', 3, 3 + 5 * 4],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 7, 9],
  ["cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", 2 + 2 + 3, 2 + 2 + 7],
  ['sets.contains([1, 2], [1])', 23, 23],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v + 1)", 71, 71],
])('%s is estimated at %d to %d', (source, min, max) => {
  expect(compile(source, types, { environment }).estimateCost()).toEqual({ min, max });
});
test('no size of what is written as text is known', () => {
  expect(compile("'a' + string(n)", types, { environment }).estimateCost().max).toBe(Number.POSITIVE_INFINITY);
  expect(compile("'a' + text", types, { environment }).estimateCost().max).toBe(1 + 51);
});

test('an expression ends with its cost, however little work it takes', () => {
  const budget = new CostBudget(1_000_000, 10);
  expect(() => compile('list.all(x, x > 0)', types, { environment }).evaluate(values, budget)).toThrow(CostExceeded);
  expect(budget.remaining).toBeGreaterThan(999_000);
});
