import { kubernetes, plat } from '@plat-dev/meta/identity';
import { beforeAll, expect, test } from 'vitest';
import { create, type Loose, testEnv, update } from '../../validation/kinds.testing.ts';
import { customResourceDefinitionKind } from '../custom-resource-definition.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { loadEvaluation } from './load-evaluation.ts';
import { MAX_RULES } from './rule-checks.ts';

beforeAll(loadEvaluation);

const Kind = customResourceDefinitionKind(kubernetes);
const on = { ...testEnv, identity: kubernetes, feature: () => true };
const off = { ...on, feature: () => false };
const x = extensionNames(kubernetes.schemaExtensionPrefix);
const PLACE = 'spec.validation.openAPIV3Schema.properties[spec]';

const definition = (schema: Loose, more: Loose = {}): Loose => ({
  metadata: { name: 'gadgets.example.com', resourceVersion: '1' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
});
const withSpec = (spec: JSONSchemaProps): Loose => ({ type: 'object', properties: { spec } });
const errorsOf = (spec: JSONSchemaProps): string[] => create(Kind, definition(withSpec(spec)), on).errors;
const rules = (...list: Loose[]): Loose => ({ [x.validations]: list });
const integer = { type: 'integer' };
const string = { type: 'string' };
/** An object with a number and a text, and rules. */
const numbered = (...list: Loose[]): JSONSchemaProps => ({
  type: 'object',
  properties: { n: integer, s: string, 'x-y': integer, namespace: string, port: { [x.intOrString]: true } },
  ...rules(...list),
});

test.each([
  'self.n > 3',
  'self.x__dash__y == 1',
  "self.__namespace__ == 'a'",
  "type(self.port) == int ? self.port < 5 : self.port == 'all'",
  'has(self.n) && self.s.size() < 10',
  'self.n >= oldSelf.n',
  'self == oldSelf',
])('a rule: %s', (rule) => {
  expect(errorsOf(numbered({ rule }))).toEqual([]);
});

test.each<[string, JSONSchemaProps, string[]]>([
  ['no rule', numbered({ rule: '  ' }), [`${PLACE}.x-kubernetes-validations[0].rule | Required | Required value: rule is not specified`]],
  [
    'an empty message',
    numbered({ rule: 'self.n > 3', message: ' ' }),
    ['x-kubernetes-validations[0].message | Invalid | Invalid value: " ": message must be non-empty if specified'],
  ],
  ['a message of two lines', numbered({ rule: 'self.n > 3', message: 'a\nb' }), ['message must not contain line breaks']],
  ['a rule of two lines without a message', numbered({ rule: 'self.n\n> 3' }), ['[0].message | Required']],
  ['an empty expression for the message', numbered({ rule: 'self.n > 3', messageExpression: ' ' }), ['[0].messageExpression | Required']],
  [
    'a reason',
    numbered({ rule: 'self.n > 3', reason: 'Teapot' }),
    ['[0].reason | NotSupported | Unsupported value: "Teapot": supported values: "FieldValueDuplicate"'],
  ],
  [
    'a field path',
    numbered({ rule: 'self.n > 3', fieldPath: '.m' }),
    ['[0].fieldPath | Invalid | Invalid value: ".m": must be a valid path'],
  ],
  [
    'no expression',
    numbered({ rule: 'self.n >' }),
    [
      `${PLACE}.x-kubernetes-validations[0].rule | Invalid | Invalid value: apiextensions.ValidationRule{Rule:"self.n >", Message:""}: compilation failed: ERROR: <input>:1:`,
    ],
  ],
  ['an unknown field', numbered({ rule: 'self.m > 3' }), ["ERROR: <input>:1:5: undefined field 'm'"]],
  ['types that do not fit', numbered({ rule: "self.n > 'a'" }), ["found no matching overload for '_>_'"]],
  ['no boolean', numbered({ rule: 'self.n + 1' }), ['cel expression must evaluate to a bool']],
  [
    'no text for the message',
    numbered({ rule: 'self.n > 3', messageExpression: 'self.n' }),
    ['messageExpression must evaluate to a string'],
  ],
  [
    'an optional old value without an old value',
    numbered({ rule: 'self.n > 3', optionalOldSelf: true }),
    ['[0].optionalOldSelf | Invalid | Invalid value: true: may not be set if oldSelf is not used in rule'],
  ],
  [
    'a rule where nothing is known of the value',
    { type: 'object', properties: { open: { [x.preserveUnknownFields]: true, ...rules({ rule: 'true' }) } } },
    ['properties[open].x-kubernetes-validations[0].rule | Invalid'],
  ],
  [
    'a rule in a combination',
    { ...numbered(), anyOf: [rules({ rule: 'self.n > 3' })] },
    ['anyOf[0].x-kubernetes-validations | Forbidden | Forbidden: must be empty to be structural'],
  ],
  [
    'an old value within a list without keys',
    { type: 'object', properties: { list: { type: 'array', maxItems: 9, items: { ...integer, ...rules({ rule: 'self > oldSelf' }) } } } },
    [`oldSelf cannot be used on the uncorrelatable portion of the schema within ${PLACE}.properties[list]`],
  ],
])('%s', (_, schema, wanted) => {
  expect(errorsOf(schema)).toEqual(wanted.map((text) => expect.stringContaining(text)));
});

test('old values are found again in lists with keys and in maps', () => {
  const item = { type: 'object', properties: { k: string, n: integer }, required: ['k'], ...rules({ rule: 'self.n >= oldSelf.n' }) };
  const list = { type: 'array', maxItems: 9, items: item, [x.listType]: 'map', [x.listMapKeys]: ['k'] };
  expect(errorsOf({ type: 'object', properties: { list } })).toEqual([]);
  expect(errorsOf({ type: 'object', additionalProperties: item, maxProperties: 9 })).toEqual([]);
});

test('an expression that may cost too much is refused with the factor, until sizes are bounded', () => {
  const rule = { rule: 'self.list.all(a, self.list.all(b, a == b))' };
  const sized = (bounds: Loose): JSONSchemaProps => ({
    type: 'object',
    properties: { list: { type: 'array', items: { ...string, maxLength: 10 }, ...bounds } },
    ...rules(rule),
  });
  expect(errorsOf(sized({}))).toEqual([
    expect.stringMatching(
      /validations\[0\]\.rule \| Forbidden \| Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try/,
    ),
    expect.stringContaining('[0].rule | Forbidden | Forbidden: contributed to estimated rule cost total exceeding'),
    expect.stringContaining('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of'),
  ]);
  const [only, ...more] = errorsOf(sized({ maxItems: 2000 }));
  expect([only, more]).toEqual([expect.stringMatching(/estimated rule cost exceeds budget by factor of \d+\.\dx \(try/), []]);
  expect(errorsOf(sized({ maxItems: 100 }))).toEqual([]);
});

test('the cost of a rule counts as often as there may be values at its place', () => {
  const item = { ...string, ...rules({ rule: "self.matches('^a+$')" }) };
  const list = (bounds: Loose): JSONSchemaProps => ({ type: 'array', items: { ...item, ...bounds } });
  expect(errorsOf({ ...list({}), maxItems: 100 })).toContainEqual(
    expect.stringContaining('items.x-kubernetes-validations[0].rule | Forbidden'),
  );
  expect(errorsOf({ ...list({ maxLength: 64 }), maxItems: 100 })).toEqual([]);
  // Without a bound there may be as many as fit into a request.
  expect(errorsOf(list({ maxLength: 64 }))).toContainEqual(expect.stringContaining('estimated rule cost exceeds budget'));
});

test('many rules are refused before they are compiled', () => {
  const many = Array.from({ length: MAX_RULES + 1 }, () => ({ rule: 'self.n > 3' }));
  expect(errorsOf(numbered(...many))).toEqual([
    expect.stringContaining(`Too many: ${MAX_RULES + 1}: must have at most ${MAX_RULES} items`),
  ]);
});

test('defaults obey the rules of their place', () => {
  const withDefault = (value: number): JSONSchemaProps => ({ ...numbered({ rule: 'self.n > 3' }), default: { n: value } });
  expect(errorsOf(withDefault(4))).toEqual([]);
  expect(errorsOf(withDefault(3))).toEqual([`${PLACE}.default | Invalid | Invalid value: "object": failed rule: self.n > 3`]);
});

test('a schema that is as it was is not looked at again', () => {
  const stored = create(Kind, definition(withSpec(numbered({ rule: 'self.gone > 3' }))), on).object;
  const labelled = update(Kind, stored, ({ metadata }) => Object.assign(metadata, { labels: { a: 'b' } }), '', on);
  expect(labelled.errors).toEqual([]);
  const changed = update(Kind, stored, ({ spec }) => Object.assign(specOf(spec).properties, { more: string }), '', on);
  expect(changed.errors).toEqual([expect.stringContaining("undefined field 'gone'")]);
});

test('a rule that stays is checked again where its schema changes: what it costs may have changed with it', () => {
  const list = { type: 'array', maxItems: 100, items: { ...string, maxLength: 10 } };
  const schema = { type: 'object', properties: { list }, ...rules({ rule: "self.list.all(x, x.contains('a'))" }) };
  const stored = create(Kind, definition(withSpec(schema)), on).object;
  const grown = update(Kind, stored, ({ spec }) => Object.assign(specOf(spec).properties.list, { maxItems: 5_000_000 }), '', on);
  expect(grown.errors).toEqual([expect.stringContaining('estimated rule cost exceeds budget by factor of')]);
});
const specOf = (spec: Loose): Loose => spec.versions[0].schema.openAPIV3Schema.properties.spec;

test('while the feature is off, rules are dropped, and kept where there were some before', () => {
  const given = definition(withSpec(numbered({ rule: 'self.n > 3' })));
  const [dropped, kept] = [create(Kind, given, off).object, create(Kind, given, on).object];
  expect([specOf(dropped.spec)[x.validations], specOf(kept.spec)[x.validations]]).toEqual([undefined, [{ rule: 'self.n > 3' }]]);
  const two = [{ rule: 'self.n > 3' }, { rule: 'self.n < 9' }];
  const add = ({ spec }: Loose) => Object.assign(specOf(spec), { [x.validations]: two });
  const after = (stored: Loose, env: typeof on) => specOf(update(Kind, stored, add, '', env).object.spec)[x.validations];
  expect([after(dropped, off), after(kept, off), after(dropped, on)]).toEqual([undefined, two, two]);
});

test('rules have the name of the identity', () => {
  const [theirs, own] = [kubernetes, plat].map((identity) => extensionNames(identity.schemaExtensionPrefix).validations) as [
    string,
    string,
  ];
  const schema = (field: string) =>
    withSpec({ type: 'object', properties: { n: integer }, [field]: [{ rule: 'self.m > 3' }] } as JSONSchemaProps);
  const errors = create(customResourceDefinitionKind(plat), definition(schema(own)), { ...on, identity: plat }).errors;
  expect(errors).toEqual([expect.stringContaining(`properties[spec].${own}[0].rule | Invalid`)]);
  expect(own).not.toBe(theirs);
});
