import { apiRelease } from '@plat-dev/lib/version';
import { describe, expect, test } from 'vitest';
import { evaluate } from './cases.testing.ts';
import {
  authorizerLibrary,
  CelError,
  CostBudget,
  compile,
  environmentOf,
  environmentsOf,
  evaluateWhenReady,
  INT,
  listOf,
  mutationLibrary,
  STRING,
  type Variables,
} from './index.ts';
import { AUTHORIZER } from './types.ts';
import { AuthorizerValue, ConstructedObject } from './values.ts';

const types: Variables = { n: INT, text: STRING, list: listOf(INT), authorizer: AUTHORIZER };
const libraries = [...authorizerLibrary, ...mutationLibrary];
const compiles = (source: string, release: string): boolean => {
  try {
    compile(source, types, { environment: environmentOf(release, { libraries }) });
    return true;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return false;
  }
};

/** The first release in which an expression compiles. */
test.each<[string, string]>([
  ['n < 5', '1.25'],
  ["text.charAt(0) == text.find('a').trim()", '1.25'],
  ['url(text).getHost() == text && isURL(text)', '1.25'],
  ['list.isSorted() && list.sum() == list.max()', '1.25'],
  ['list.exists_one(x, x == 1)', '1.25'],
  ["authorizer.path('/x').check('get').allowed()", '1.27'],
  ["authorizer.group('').resource('pods').check('get').errored()", '1.28'],
  ["quantity(text).isGreaterThan(quantity('1')) && sign(quantity(text)) == 1", '1.28'],
  ['optional.of(n).hasValue()', '1.28'],
  ['{?text: optional.of(n)}.size() == 1', '1.28'],
  ['[?optional.of(n)][?0].optMap(x, x + 1).orValue(2) == 3', '1.28'],
  ['optional.of(n).optFlatMap(x, optional.of(x)).value() == 1', '1.28'],
  ['n < 1.5 && n > 2u', '1.28'],
  ["'%d'.format([n]) == strings.quote(text)", '1.29'],
  ['sets.contains(list, list)', '1.29'],
  ['ip(text).family() == 4 && string(ip(text)) == text', '1.30'],
  ['cidr(text).containsIP(text)', '1.30'],
  ["authorizer.group('').resource('pods').labelSelector('a=b').check('list').allowed()", '1.31'],
  ['list.all(i, v, i == v)', '1.32'],
  ['list.transformList(i, v, i + v).size() == 1', '1.32'],
  ['list.transformMap(i, v, v).size() == 1', '1.32'],
  ['list.transformMapEntry(i, v, {v: i}).size() == 1', '1.32'],
  ["jsonpatch.escapeKey(text) == 'a'", '1.32'],
  ["JSONPatch{op: 'add', path: '/a', value: n}.op == 'add'", '1.32'],
  ['Object{spec: Object.spec{replicas: n}}.spec.replicas == 1', '1.32'],
  ['semver(text).major() == 1 && isSemver(text, true)', '1.33'],
  ['list.existsOne(x, x == 1)', '1.33'],
  ['list.first().hasValue() && optional.unwrap([optional.of(n)]).size() == 1', '1.33'],
  ['list.sort() == list.distinct().reverse()', '1.34'],
  ['list.sortBy(x, -x).slice(0, 1) == lists.range(1)', '1.34'],
  ['[list].flatten() == list', '1.34'],
])('%s is known from %s on', (source, since) => {
  const minor = Number(since.slice(2));
  for (let i = 25; i <= 36; i++) expect([i, compiles(source, `1.${i}`)]).toEqual([i, i >= minor]);
  expect(compiles(source, apiRelease)).toBe(true);
});
test.each(['cel.bind(x, n, x == 1)', 'text.reverse() == text', 'quantity(text).sign() == 1', "list == [1, 'a']"])(
  '%s is known to no stock server',
  (source) => {
    for (let i = 25; i <= 36; i++) expect(compiles(source, `1.${i}`)).toBe(false);
    expect(compiles(source, apiRelease)).toBe(true);
  },
);

describe('new expressions', () => {
  test.each<[string, string]>([
    ['1.27', '1.27'],
    ['1.28', '1.27'],
    ['1.36', '1.35'],
  ])('of %s may use what %s has', (release, usable) => {
    const { added, stored } = environmentsOf(release);
    expect([added.release, stored.release]).toEqual([usable, release]);
  });
  test('have the newer versions of libraries that the server is made of', () => {
    const source = 'list.first().hasValue()';
    compile(source, types, { environment: environmentsOf('1.33').added });
    expect(() => compile(source, types, { environment: environmentsOf('1.32').added })).toThrow(CelError);
  });
});

const issuesOf = (source: string, release = '1.36'): string[] => {
  try {
    compile(source, types, { environment: environmentOf(release) });
    return [];
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return error.issues.map(({ column, message }) => `${column}: ${message}`);
  }
};
test.each<[string, string]>([
  ["timestamp('2020') < timestamp(text)", '11: invalid timestamp argument'],
  ["duration('1x') < duration(text)", '10: invalid duration argument'],
  ["text.matches('[')", '14: invalid matches argument'],
  ["n in [1, 'a']", "10: expected type 'int' but found 'string'"],
  ['[n, dyn(n)].size() == 2', "8: expected type 'int' but found 'dyn'"],
  ["{'a': 1, 'b': true}.size() == 2", "15: expected type 'int' but found 'bool'"],
  ['Object{a: n} == null', "7: undeclared reference to 'Object' (in container '')"],
])('%s does not compile: %s', (source, issue) => {
  expect(issuesOf(source)).toEqual([issue]);
});
test.each<[string, string]>([
  ['{?text: n}', "2: unsupported syntax '?'"],
  ['text.?a', "6: unsupported syntax '.?'"],
  ['list[?0]', "6: unsupported syntax '[?'"],
])('%s has no optional syntax before 1.28', (source, issue) => {
  expect(issuesOf(source, '1.27')).toEqual([issue]);
});
test('what is formatted may be of several types', () => {
  expect(issuesOf("'%s %d %f'.format([text, n, 1.5]) == [['a', {1: 'b'}]][0][0]")).toEqual([
    "45: expected type 'string' but found 'map(int, string)'",
  ]);
});
test('before 1.29 literals are checked when they are used', () => {
  expect(issuesOf("text.matches('a') && duration('1x') < duration(text)", '1.28')).toEqual([]);
});

test('patches and objects are made with the fields of their types', () => {
  const mutating = environmentOf('1.36', { libraries });
  const made = compile("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: {'x': n}}]", types, {
    environment: mutating,
  }).evaluate({ n: 1 }, new CostBudget(10_000)) as ConstructedObject[];
  expect(made[0]).toBeInstanceOf(ConstructedObject);
  expect([made[0]?.typeName, made[0]?.fields.get('path')]).toEqual(['JSONPatch', '/metadata/labels/a~1b~0c']);
  expect(() => compile('JSONPatch{operation: text}', types, { environment: mutating })).toThrow("undefined field 'operation'");
  expect(() => compile('JSONPatch{op: n}', types, { environment: mutating })).toThrow(
    "expected type of field 'op' is 'string' but provided type is 'int'",
  );
});

describe('checks of access', () => {
  const source =
    "authorizer.serviceAccount('a', 'b').group('apps').resource('deployments').subresource('scale').namespace('c').name('d').check('get').allowed()";
  const environment = environmentOf('1.36', { libraries });
  test('ask with what was put together, and wait for the answer', async () => {
    const asked: unknown[] = [];
    const answers = new Map<string, { allowed: boolean }>();
    const authorizer = new AuthorizerValue((access) => {
      const key = JSON.stringify(access);
      const answer = answers.get(key);
      if (answer !== undefined) return answer;
      asked.push(access);
      return Promise.resolve({ allowed: true }).then((decision) => {
        answers.set(key, decision);
        return decision;
      });
    });
    const budget = new CostBudget(10_000, 1_000_000);
    expect(await evaluateWhenReady(compile(source, types, { environment }), { authorizer }, budget)).toBe(true);
    expect(asked).toEqual([
      {
        ...{ group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'c', name: 'd', verb: 'get' },
        serviceAccount: { namespace: 'a', name: 'b' },
      },
    ]);
    // The check, the calls, and the variable.
    expect(1_000_000 - budget.cost).toBe(350_000 + 7 + 1);
  });
  test('cost so much that three are too many for a call', () => {
    const authorizer = new AuthorizerValue(() => ({ allowed: false, reason: 'no', error: 'broken' }));
    const check = (path: string): string => `authorizer.path('/${path}').check('get').errored()`;
    const run = (text: string): unknown =>
      compile(text, types, { environment }).evaluate({ authorizer }, new CostBudget(10_000, 1_000_000));
    expect(run(`${check('a')} && ${check('b')}`)).toBe(true);
    expect(() => run(`${check('a')} && ${check('b')} && ${check('c')}`)).toThrow('actual cost limit exceeded');
    expect(() => run("authorizer.path(' ').check('get').allowed()")).toThrow('path must not be empty');
    expect(() => run("authorizer.serviceAccount('a', 'B').path('/').check('get').allowed()")).toThrow('Invalid service account name');
  });
});

test.each<[string, string]>([
  ['%e', '1.250000\u202f×\u202f10⁰¹'],
  ['%.2f', '12.50'],
  ['%x', 'c'],
])('%s is formatted as %s', (clause, text) => {
  const program = compile(`'${clause}'.format([${clause === '%x' ? '12' : '12.5'}])`, types, { environment: environmentOf('1.36') });
  expect(program.evaluate({}, new CostBudget(10_000))).toBe(text);
});
test('digits are grouped', () => {
  const run = (source: string): unknown =>
    compile(source, types, { environment: environmentOf('1.36') }).evaluate({}, new CostBudget(10_000));
  expect(run("'%.1f %f %e'.format([-1234567.25, 999.5, 0.00012])")).toBe('-1,234,567.2 999.500000 1.200000\u202f×\u202f10⁻⁰⁴');
});

test('what a stock server does is what is evaluated in 1.24', () => {
  expect(evaluate('[3, 1, 2].sortBy(x, -x)')).toEqual([3, 2, 1]);
  expect(evaluate("semver('v1.2', true).minor() + semver('1.0.0-rc.1').compareTo(semver('1.0.0'))")).toBe(1);
});
