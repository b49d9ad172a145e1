import fc from '@plat-dev/lib/testing/fast-check.testing';
import { describe, expect, test } from 'vitest';
import { FieldErrors, Path } from './field.ts';
import { fromLabelSelector, LabelSelector, MAX_REQUIREMENTS, parseLabelSelector, validateLabelSelector } from './labels.ts';

const fruit: Record<string, Record<string, string>> = {
  apple: { colour: 'red', size: '3' },
  banana: { colour: 'yellow', size: '5', 'shop.example.com/ripe': 'yes' },
  cherry: { colour: 'red', 'shop.example.com/ripe': '' },
  date: {},
};
const select = (text: string): string => {
  const selector = parseLabelSelector(text);
  return Object.keys(fruit)
    .filter((name) => selector.matches(fruit[name]))
    .join(' ');
};

test.each([
  ['', 'apple banana cherry date'],
  ['colour=red', 'apple cherry'],
  ['colour==red', 'apple cherry'],
  ['colour!=red', 'banana date'],
  ['colour=red,size=3', 'apple'],
  ['colour = red , size != 3', 'cherry'],
  ['colour=', ''],
  ['shop.example.com/ripe=', 'cherry'],
  ['colour in (red,yellow)', 'apple banana cherry'],
  ['colour notin (red)', 'banana date'],
  ['colour in (red,)', 'apple cherry'],
  ['shop.example.com/ripe in ()', 'cherry'],
  ['shop.example.com/ripe in (,yes)', 'banana cherry'],
  ['shop.example.com/ripe notin (yes)', 'apple cherry date'],
  ['colour in (red),colour notin (red)', ''],
  ['colour in ( red , yellow ),size', 'apple banana'],
  ['size', 'apple banana'],
  ['!size', 'cherry date'],
  ['!colour,!size', 'date'],
  ['size>3', 'banana'],
  ['size<4', 'apple'],
  ['size>1,size<9', 'apple banana'],
  ['colour>1', ''],
  ['toString', ''],
  ['in', ''],
  ['!notin', 'apple banana cherry date'],
  ['constructor!=x', 'apple banana cherry date'],
])('%j selects %j', (text, names) => {
  expect(select(text)).toBe(names);
});

describe('queries that do not parse', () => {
  const name =
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  test.each([
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a>b', `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['a>1.5', `unable to parse requirement: values[0]: Invalid value: "1.5": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['/a=b', 'unable to parse requirement: key: Invalid value: "/a": prefix part must be non-empty'],
    [
      'x/y/z=1',
      `unable to parse requirement: key: Invalid value: "x/y/z": a qualified name must ${name} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    [
      `a=${'v'.repeat(64)}`,
      `unable to parse requirement: values[0][a]: Invalid value: "${'v'.repeat(64)}": must be no more than 63 characters`,
    ],
    ['a notin (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a in (!', "unable to parse requirement: found '!', expected: ',', ')' or identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
  ])('%j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }));
  });
});

test('requirements of equality are laid open for an index', () => {
  expect(parseLabelSelector('z=1,a in (y,x),b!=2,c').equals.map((r) => [r.key, r.values])).toEqual([
    ['a', ['x', 'y']],
    ['z', ['1']],
  ]);
});

test('the object form: absent selects nothing, empty selects everything', () => {
  expect(fromLabelSelector(undefined).matches({})).toBe(false);
  expect(fromLabelSelector({}).matches(undefined)).toBe(true);
  expect(fromLabelSelector({}).everything).toBe(true);
  const selector = fromLabelSelector({
    matchLabels: { colour: 'red' },
    matchExpressions: [
      { key: 'size', operator: 'Exists' },
      { key: 'tier', operator: 'DoesNotExist' },
      { key: 'size', operator: 'NotIn', values: ['4'] },
      { key: 'colour', operator: 'In', values: ['red', 'green'] },
    ],
  });
  expect(selector.matches(fruit.apple)).toBe(true);
  expect(selector.matches(fruit.cherry)).toBe(false);
  expect(selector.matches({ ...fruit.apple, tier: '' })).toBe(false);
  expect(() => fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] })).toThrow(
    '"Gt" is not a valid label selector operator',
  );
});

test('faults of a selector object are all reported, where they are', () => {
  const errors = new FieldErrors();
  const object = {
    matchLabels: { 'bad key!': 'v' },
    matchExpressions: [
      { key: 'a', operator: 'Exists', values: ['x'] },
      { key: 'a', operator: 'In' },
      { key: '', operator: 'Near' },
    ],
  };
  validateLabelSelector(object, Path.of('spec', 'selector'), errors);
  expect(errors.list.map((e) => `${e.field}: ${e.message.slice(0, 70)}`)).toEqual([
    'spec.selector.matchLabels: Invalid value: "bad key!": name part must consist of alphanumeric char',
    "spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNo",
    "spec.selector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'spec.selector.matchExpressions[2].operator: Invalid value: "Near": not a valid selector operator',
    'spec.selector.matchExpressions[2].key: Invalid value: "": name part must be non-empty',
    'spec.selector.matchExpressions[2].key: Invalid value: "": name part must consist of alphanumeric characters, ',
  ]);
});

const word = fc.constantFrom('a', 'b', 'c', '1', '2');
const requirement = fc.oneof(
  fc.record({ key: word, operator: fc.constantFrom('=' as const, '!=' as const), values: fc.tuple(word) }),
  fc.record({ key: word, operator: fc.constantFrom('in' as const, 'notin' as const), values: fc.uniqueArray(word, { minLength: 1 }) }),
  fc.record({ key: word, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({ key: word, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.tuple(fc.constantFrom('1', '2')) }),
);
test('a printed selector is read as the same selector', () => {
  fc.assert(
    fc.property(fc.array(requirement), fc.array(fc.dictionary(word, word)), (requirements, objects) => {
      const selector = new LabelSelector(requirements);
      const again = parseLabelSelector(selector.toString());
      for (const labels of objects) expect(again.matches(labels)).toBe(selector.matches(labels));
    }),
  );
});

test('any text is either a selector or a bad request', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[ab!=<>(), ]{0,20}$/)), (text) => {
      try {
        parseLabelSelector(text).matches({ a: 'b' });
      } catch (error) {
        expect(error).toMatchObject({ code: 400 });
      }
    }),
  );
});

test('a long selector selects what its requirements select one by one', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const value = fc.constantFrom('', '1', '5', '9', 'x');
  const requirement = fc.oneof(
    fc.tuple(key, fc.constantFrom('=', '!=', '==', '<', '>'), value).map(([k, o, v]) => `${k}${o}${o === '<' || o === '>' ? '5' : v}`),
    fc.tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1 })).map(([k, o, v]) => `${k} ${o} (${v.join()})`),
    key,
    key.map((k) => `!${k}`),
  );
  const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value);
  fc.assert(
    fc.property(fc.array(requirement, { minLength: 1, maxLength: 5 }), labels, (some, object) => {
      const once = some.every((text) => parseLabelSelector(text).matches(object));
      // Repeated, the same requirements make a selector that is compiled by keys.
      const repeated = Array.from({ length: 20 }, (_, i) => some[i % some.length]).join();
      expect(parseLabelSelector(repeated).matches(object)).toBe(once);
      const others = Array.from({ length: 80 }, (_, i) => `!other${i}`).join();
      expect(parseLabelSelector(`${repeated},${others}`).matches(object)).toBe(once);
    }),
  );
});

test('of an object each label is read once, however long the selector is', () => {
  const selector = parseLabelSelector(Array.from({ length: 4000 }, (_, i) => `app!=v${i}`).join());
  let reads = 0;
  const labels = {
    get app() {
      reads++;
      return 'other';
    },
  };
  expect(selector.matches(labels)).toBe(true);
  expect(reads).toBe(1);
});

test('a query has a bound on its requirements, not on the values of one', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`).join();
  expect(parseLabelSelector(many(MAX_REQUIREMENTS)).requirements).toHaveLength(MAX_REQUIREMENTS);
  expect(() => parseLabelSelector(many(MAX_REQUIREMENTS + 1))).toThrow('the label selector has more than 5000 requirements');
  expect(parseLabelSelector(`a in (${many(20_000)})`).matches({ a: 'k19999' })).toBe(true);
});
