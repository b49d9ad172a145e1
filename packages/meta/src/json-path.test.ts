import { describe, expect, test } from 'vitest';

import { JsonPathError, jsonPath, plainPath, setAt, valueAt } from './json-path.ts';

const pod = {
  metadata: { name: 'web', labels: { 'example.com/tier': 'front', app: 'web' } },
  spec: {
    replicas: 3,
    ports: [
      { name: 'http', port: 80, open: true },
      { name: 'https', port: 443 },
      { name: 'admin', port: 8080, open: false },
    ],
    matrix: [
      [1, 2],
      [3, 4],
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Fit', status: 'False' },
    ],
  },
  'a)b': 1,
};
const find = (path: string, value: unknown = pod): unknown[] => jsonPath(path)(value);

describe('paths into objects', () => {
  test.each<[string, unknown[]]>([
    ['.spec.replicas', [3]],
    ['.spec.missing.below', []],
    ['.metadata.labels.example\\.com/tier', ['front']],
    [".metadata.labels['example\\.com/tier']", ['front']],
    [".metadata['name']", ['web']],
    // A key in brackets is a path like any other, as it always was.
    [".metadata['labels.app']", ['web']],
    ['$.spec.replicas', [3]],
    ['@.spec.replicas', [3]],
    ['.metadata.labels.*', ['front', 'web']],
    ['..port', [80, 443, 8080]],
    ['.constructor', []],
    ['.metadata.__proto__', []],
  ])('%s', (path, found) => {
    expect(find(path)).toEqual(found);
  });

  test('without names the path is the value', () => {
    expect(find('.')).toEqual([pod]);
    expect(find('')).toEqual([pod]);
  });
});

describe('items of lists', () => {
  test.each<[string, unknown[]]>([
    ['.spec.ports[0].name', ['http']],
    ['.spec.ports[-1].name', ['admin']],
    ['.spec.ports[*].port', [80, 443, 8080]],
    ['.spec.ports[:].port', [80, 443, 8080]],
    ['.spec.ports[1:].port', [443, 8080]],
    ['.spec.ports[:2].port', [80, 443]],
    ['.spec.ports[0:-1].port', [80, 443]],
    ['.spec.ports[::2].port', [80, 8080]],
    ['.spec.ports[-2:].port', [443, 8080]],
    ['.spec.ports[1:1].port', []],
    ['.spec.ports[0,2].port', [80, 8080]],
    [".spec.ports[0]['name','port']", ['http', 80]],
    ['.spec.matrix[*][1]', [2, 4]],
    ['.spec.matrix[1][0]', [3]],
    // Outside of the list, or no list at all.
    ['.spec.ports[3].name', []],
    ['.spec.ports[-4].name', []],
    ['.spec.ports[2:1].name', []],
    ['.spec.ports[0:9].name', []],
    ['.spec.ports[0:2:0].name', []],
    ['.spec.replicas[0]', []],
    ['.metadata.labels[*]', []],
  ])('%s', (path, found) => {
    expect(find(path)).toEqual(found);
  });

  test('one item of the wrong shape ends the search', () => {
    expect(find('.list[*][0]', { list: [[1], 'x'] })).toEqual([]);
    expect(find('.list[*][0]', { list: [[1], null] })).toEqual([1]);
  });
});

describe('comparisons', () => {
  test.each<[string, unknown[]]>([
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Fit')].status", ['False']],
    ['.status.conditions[?(@.type == "Ready")].status', ['True']],
    ['.status.conditions[?(@.type!="Ready")].status', ['False']],
    ['.spec.ports[?(@.port>80)].name', ['https', 'admin']],
    ['.spec.ports[?(@.port>=443)].name', ['https', 'admin']],
    ['.spec.ports[?(@.port<443)].name', ['http']],
    ['.spec.ports[?(@.port<=443)].name', ['http', 'https']],
    ['.spec.ports[?(@.name<"b")].name', ['admin']],
    ['.spec.ports[?(@.open==true)].name', ['http']],
    ['.spec.ports[?(@.open)].name', ['http', 'admin']],
    ['.spec.ports[?(@.port==@.port)].name', ['http', 'https', 'admin']],
    ['.spec.ports[?(@.none=="x")].name', []],
    // What cannot be compared ends the search.
    ['.spec.ports[?(@.port=="80")].name', []],
    ['.spec.ports[?(@.open<true)].name', []],
    ['.metadata.labels[?(@.app=="web")]', []],
  ])('%s', (path, found) => {
    expect(find(path)).toEqual(found);
  });

  test('a quotation may hold what else would end the comparison', () => {
    const list = [{ n: 'a)]b' }, { n: 'it"s' }];
    expect(find('.l[?(@.n=="a)]b")].n', { l: list })).toEqual(['a)]b']);
    expect(find('.l[?(@.n=="it\\"s")].n', { l: list })).toEqual(['it"s']);
  });
});

test('what is no path is refused when it is read', () => {
  for (const text of ['.a[', '.a[x]', '.a[]', '.a[?(@.b', '.a[?(@.b=="c)]', '.a[?(@.b=~"c")]', '.a}', '.a[?(@.b==c)]'])
    expect(() => jsonPath(text), text).toThrow(JsonPathError);
});

test('a path that finds too much finds nothing', () => {
  let deep: unknown = 1;
  for (let i = 0; i < 200; i++) deep = { a: deep };
  expect(find('..', deep)).toHaveLength(200);
  expect(jsonPath(Array(6).fill('..').join(' '))(deep)).toEqual([]);
});

const long = { a: Array.from({ length: 20_000 }, (_, i) => ({ b: i })) };
test.each([
  ['a list that is named often', `['a'${",'a'".repeat(5_000)}][*]`],
  ['every child of it', `['a'${",'a'".repeat(5_000)}].*`],
  ['everything below it', `['a'${",'a'".repeat(5_000)}]..b`],
  ['long slices of which little is left', `['a'${",'a'".repeat(5_000)}][0:20000:20000]`],
  ['comparisons', `['a'${",'a'".repeat(5_000)}][?(@.b==1)]`],
  ['items that have a field', `['a'${",'a'".repeat(5_000)}][?(@.b)]`],
  ['names without end', `.a[*]${"['b','b']".repeat(40)}`],
])('%s: what a short path asks for is bounded before it is made', (_, path) => {
  const bound = { effort: 300_000 };
  expect(jsonPath(path)(long, bound)).toEqual([]);
  expect(bound.effort).toBeLessThan(0);
  // No step went far beyond the bound.
  expect(bound.effort).toBeGreaterThan(-100_000);
});

test('paths share a bound where they are given one, and what was found stays found', () => {
  const bound = { effort: 100_000 };
  expect(jsonPath('.a[*].b')(long, bound)).toHaveLength(20_000);
  expect(bound.effort).toBeLessThan(60_000);
  expect(jsonPath('.a[*].b')(long, bound)).toEqual([]);
});

describe('plain paths', () => {
  test('read and write through objects, which are made on the way', () => {
    const object = { spec: {} };
    expect(valueAt(object, plainPath('.spec.a.b'))).toBeUndefined();
    setAt(object, plainPath('.spec.a.b'), 4);
    expect(object).toEqual({ spec: { a: { b: 4 } } });
    expect(valueAt(object, plainPath('.spec.a.b'))).toBe(4);
  });

  test('do not go through anything else', () => {
    expect(() => valueAt({ spec: [1] }, plainPath('.spec.a'))).toThrow('.spec is not an object');
    expect(() => setAt({ spec: { a: 1 } }, plainPath('.spec.a.b'), 1)).toThrow('.spec.a is not an object');
  });

  test('names of inherited properties are names like any other', () => {
    const object = {};
    expect(valueAt(object, plainPath('.constructor'))).toBeUndefined();
    setAt(object, plainPath('.__proto__.x'), 1);
    expect(JSON.stringify(object)).toBe('{"__proto__":{"x":1}}');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
