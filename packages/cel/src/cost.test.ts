import fc, { codePoints, rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { ENOUGH } from './cases.testing.ts';
import {
  CelError,
  CelRuntimeError,
  CostBudget,
  CostExceeded,
  compile,
  DYN,
  INT,
  listOf,
  mapOf,
  objectOf,
  STRING,
  stringOf,
  type Variables,
} from './index.ts';

const types: Variables = {
  self: objectOf('Self', {
    n: INT,
    name: stringOf(100),
    names: listOf(stringOf(20), 50),
    free: STRING,
    list: listOf(STRING),
    nested: listOf(listOf(INT, 10), 10),
    labels: mapOf(stringOf(63), stringOf(63), 16),
    any: DYN,
  }),
};
const estimate = (source: string): number => compile(source, types).estimateCost().max;

test.each<[string, number]>([
  ['true', 0],
  ['self.n <= 10', 3],
  ['self.n + self.n', 5],
  // A tenth of a unit a character of the shorter text.
  ["self.name == 'abc'", 3],
  ['self.name == self.name', 4 + 10],
  ["self.name.startsWith('abc')", 2 + 1],
  // Text of 100 characters and one more, expression of 8.
  ["self.name.matches('^[a-z]+$')", 2 + 11 * 2],
  // Presence costs nothing beside what leads to it, and a look through a list one unit an item.
  ['has(self.name)', 1],
  ["'a' in self.names", 2 + 50],
  // 50 rounds of three units and the condition, and one for the result.
  ["self.names.all(n, n != '')", 2 + 1 + 50 * (3 + 1 + 1)],
  ['self.nested.all(l, l.all(i, i > 0))', 2 + 1 + 10 * (3 + 1 + 1 + 10 * (3 + 2))],
  ["self.labels.all(k, self.labels[k] != '')", 2 + 1 + 16 * (3 + 2 + 1 + 1 + 1)],
  // A list is made, and one of one item in every round.
  ['self.names.map(n, n).size()', 2 + 11 + 50 * (12 + 1) + 1],
  // Nothing is known in advance of what it takes to compare objects.
  ['self == self', 2 + 1],
])('%s is estimated at %d', (source, cost) => {
  expect(estimate(source)).toBe(cost);
});

test('what no type bounds counts as large as the caller says', () => {
  const program = compile("self.list.all(a, self.list.all(b, a.matches('x') || a != b))", types);
  expect(program.estimateCost().max).toBeGreaterThan(1e12);
  const small = program.estimateCost({ string: 10, list: 5 }).max;
  expect(small).toBeLessThan(600);
  expect(small).toBeGreaterThan(100);
});

test('the first term that decides is the least of a condition, and the cheaper branch that of a choice', () => {
  const program = compile('self.n > 1 || self.names.all(x, true)', types);
  expect(program.estimateCost().min).toBe(3);
  expect(compile('self.n > 1 ? self.n : self.n + self.n + 1', types).estimateCost()).toEqual({ min: 5, max: 9 });
});

const self = {
  n: 5,
  name: 'a'.repeat(100),
  names: Array.from({ length: 50 }, (_, i) => `name-${i}`),
  free: 'ab'.repeat(5000),
  list: Array.from({ length: 1000 }, (_, i) => `item-${i}`),
  nested: Array.from({ length: 10 }, () => [1, 2, 3]),
  labels: { a: 'b' },
  any: { deep: [[[1]]] },
};
/** What it costs from the second time on under a budget: regular expressions find out the first time what they will know. */
const spent = (source: string): number => {
  const program = compile(source, types);
  const budget = new CostBudget(10_000_000);
  program.evaluate({ self }, budget);
  const first = budget.remaining;
  program.evaluate({ self }, budget);
  return first - budget.remaining;
};

test.each([
  'self.n <= 10',
  "self.name == 'abc'",
  "self.names.all(n, n.startsWith('name'))",
  'self.nested.all(l, l.all(i, i > 0))',
  "self.names.map(n, n + 'x').filter(n, n.size() > 3).size() == 50",
  "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  'self.names == self.names',
  "self.names.join(',').split(',').size() == 50",
])('%s costs no more than twice its estimate', (source) => {
  expect(spent(source)).toBeGreaterThan(0);
  expect(spent(source)).toBeLessThanOrEqual(2 * estimate(source) + 10);
});

/** Expressions within the limits that would run for a long time, or fill the memory. */
const attacks: Readonly<Record<string, string>> = {
  'nested rounds': 'self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, a + b != c))))',
  'rounds of failures': 'self.list.all(a, self.list.all(b, (1 / (self.n - 5) == 1) || true))',
  'a text that doubles':
    Array.from({ length: 30 }, (_, i) => `cel.bind(t${i}, ${i === 0 ? 'self.free' : `t${i - 1} + t${i - 1}`}, `).join('') +
    `size(t29) > 0${')'.repeat(30)}`,
  'a list that doubles':
    Array.from({ length: 40 }, (_, i) => `cel.bind(t${i}, ${i === 0 ? 'self.list' : `t${i - 1} + t${i - 1}`}, `).join('') +
    `size(t39) > 0${')'.repeat(40)}`,
  'a list of a number': 'lists.range(1000000000000).size() > 0',
  'replacing nothing': "self.free.replace('', self.free).replace('a', self.free).size() > 0",
  'a slow expression': "self.list.all(x, self.free.matches('(a|b)*a(a|b){900}c' + x))",
  'many matches': "self.list.all(x, self.free.findAll('a.*c|a').size() > 0)",
  'many time zones': "self.list.all(x, timestamp('2024-01-01T00:00:00Z').getHours('Etc/GMT+' + string(size(x))) >= 0)",
  'wrong texts': 'self.list.all(x, self.list.all(y, !isQuantity(x) && (bool(x) || true)))',
  'comparing large values': 'self.list.all(x, self.list.all(y, self.list == self.list))',
  'long conditions': `self.list.all(x, self.list.all(y, ${Array(1000).fill('true').join('&&')}))`,
  'long lists': `self.list.all(x, self.list.all(y, [${Array(1000).fill('x').join()}].size() > 0))`,
  'looking for what is there': 'self.list.all(x, self.list.all(y, self.list.distinct().size() > 0))',
  formatting: "self.list.all(x, self.list.all(y, '%s%s%s'.format([self.list, self.list, self.any]) != ''))",
};
test.each(Object.entries(attacks))('%s ends with its budget', (_, source) => {
  const program = compile(source, types);
  const budget = new CostBudget(300_000);
  expect(() => program.evaluate({ self }, budget)).toThrow(CostExceeded);
  // It ends soon after: the last step before is one that was paid in advance, or a small one.
  expect(budget.remaining).toBeLessThan(0);
});
test.each(Object.entries(attacks).filter(([name]) => !/time zones|a slow|wrong/.test(name)))(
  '%s is estimated beyond what a definition may cost',
  (_, source) => {
    expect(estimate(source)).toBeGreaterThan(10_000_000);
  },
);

test.each([
  "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  "self.name.matches('[' + 'ab' + ']{50}')",
  "self.names.all(n, n.find(n + '|x') == n)",
])('%s costs the same, whatever was evaluated before and meanwhile', (source) => {
  const program = compile(source, types);
  const cost = (text: string): number => {
    const budget = new CostBudget(10_000_000);
    program.evaluate({ self: { ...self, name: text } }, budget);
    return 10_000_000 - budget.remaining;
  };
  const first = cost('ab'.repeat(60));
  cost('ba'.repeat(80));
  cost('zzz-0');
  expect(cost('ab'.repeat(60))).toBe(first);
  // Where it is just too little, it is always too little.
  for (let i = 0; i < 3; i++) {
    const budget = new CostBudget(first - 1);
    expect(() => program.evaluate({ self: { ...self, name: 'ab'.repeat(60) } }, budget)).toThrow(CostExceeded);
  }
});

test('several evaluations share a budget', () => {
  const program = compile('self.n <= 10', types);
  const budget = new CostBudget(5);
  program.evaluate({ self }, budget);
  expect(() => {
    for (let i = 0; i < 5; i++) program.evaluate({ self }, budget);
  }).toThrow(CostExceeded);
});

/** Calls that take long for what they look like, with the units that each must be paid with at least. */
test.each<[string, number]>([
  ["timestamp('tomorrow') == timestamp('x') || true", 1000],
  ["quantity('5x') == quantity('1') || true", 1000],
  ["!isQuantity('1.5.5')", 1000],
  ["'a'.matches('(' + self.name) || true", 1000],
  ["string(b'\\xff') == '' || true", 1000],
  ["timestamp('2024-01-01T00:00:00Z').getHours('Asia/Tokyo') == 9", 500],
  ["isIP('10.0.0.1')", 600],
  ['type(self.n) == int', 20],
  ['bytes(self.name).size() == 100', 60],
  ["int('5') == 5", 20],
  ["string(duration('1h')) == '3600s'", 120],
  ['dyn(self.n) + dyn(1) == 6', 50],
  ["'%d'.format([self.n]) == '5'", 80],
  ["self.name.matches('^a')", 20],
  ['lists.range(1000).size() == 1000', 2000],
  ["self.free.split('a').size() > 1", 10_000],
  ["self.free + 'a' < self.free + 'b'", 4000],
  ['self.labels.all(k, true)', 10],
  ["self.free.matches('^(ab)*$')", 5000],
  ['!sets.intersects(self.list, [])', 1000],
  ['sets.contains([], []) && self.list.sort().size() == 1000', 5000],
  ['optional.ofNonZeroValue(self.labels).hasValue()', 2],
])('%s is paid with at least %d units', (source, units) => {
  expect(spent(source)).toBeGreaterThanOrEqual(units);
});

// ---- random expressions ----------------------------------------------------------------------------------------------

const words = fc.constantFrom(
  'self',
  'self.n',
  'self.name',
  'self.list',
  'self.any',
  'self.labels',
  '1',
  '2u',
  '1.5',
  "'a'",
  "b'x'",
  'null',
  'true',
  '[]',
  '{}',
  'x',
  'int',
);
const sizes = fc.constantFrom(...['+', '-', '*', '/', '%', '==', '!=', '<', '>=', 'in', '&&', '||']);
const names = fc.constantFrom(
  ...'size contains matches split join map replace format sum min sort indexOf getHours find charAt substring orValue string int duration timestamp quantity url ip'.split(
    ' ',
  ),
);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    words,
    fc.tuple(tie('expression'), sizes, tie('expression')).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc.tuple(names, tie('expression')).map(([name, a]) => `${name}(${a})`),
    fc
      .tuple(tie('expression'), names, fc.array(tie('expression'), { maxLength: 2 }))
      .map(([a, name, args]) => `${a}.${name}(${args.join()})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('all', 'exists', 'map', 'filter', 'exists_one'), tie('expression'))
      .map(([a, macro, b]) => `${a}.${macro}(x, ${b})`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.array(tie('expression'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc.tuple(tie('expression'), tie('expression')).map(([key, value]) => `{${key}: ${value}}`),
    fc.tuple(tie('expression'), tie('expression')).map(([list, index]) => `${list}[${index}]`),
    tie('expression').map((a) => `dyn(${a})`),
  ),
}));
const known = (error: unknown): boolean => error instanceof CelError || error instanceof CelRuntimeError || error instanceof CostExceeded;

function harmless(source: string): void {
  try {
    const program = compile(source, types);
    const { min, max } = program.estimateCost();
    expect(min).toBeLessThanOrEqual(max);
    program.evaluate({ self }, new CostBudget(ENOUGH));
  } catch (error) {
    if (!known(error)) throw error;
  }
}
test('random expressions end with a result or an error of their own', () => {
  fc.assert(fc.property(expression, harmless), { numRuns: rounds(500) });
});
test('random texts end with a result or an error of their own', () => {
  const piece = fc.constantFrom(
    ...'( ) [ ] { } . ? : , + - ! && || == in self x 1 0x 1e "a" \' """ r" b" \\ // ` has( .all(x, cel.bind( $ é 😀'.split(' '),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(' ')),
      harmless,
    ),
    { numRuns: rounds(500) },
  );
  fc.assert(fc.property(codePoints(30), harmless), { numRuns: rounds(300) });
});

test('members of sets are found by their value, at a price for each', () => {
  const set = (listType?: 'set'): Variables => ({ self: { ...listOf(STRING, 100), ...(listType && { listType }) } });
  const members = Array.from({ length: 1000 }, (_, i) => `member-${i}`);
  const spentOn = (variables: Variables): number => {
    const budget = new CostBudget(10_000_000);
    expect(compile('self == self + []', variables).evaluate({ self: members }, budget)).toBe(true);
    return 10_000_000 - budget.remaining;
  };
  expect(spentOn(set('set'))).toBeGreaterThan(20 * members.length);
  expect(spentOn(set())).toBeLessThan(10 * members.length);
});
