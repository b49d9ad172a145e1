import { atOnce } from '@plat-dev/lib/slices';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { customResourceDefinitionKind } from './custom-resource-definition.ts';
import { validateDefinition, validateDefinitionUpdate } from './definition-rules.ts';
import type { JSONSchemaProps } from './schema/json-schema.ts';
import { countParts, MAX_COMBINED, MAX_PARTS } from './schema/parts.ts';
import type { CustomResourceDefinition } from './schema/v1.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const Kind = customResourceDefinitionKind(kubernetes);
const env = { ...testEnv, feature: () => false };
const version = (fields: Loose = {}): Loose => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...fields,
});
const definition = (spec: Loose = {}, metadata: Loose = {}): Loose => ({
  metadata: { name: 'gadgets.example.com', ...metadata },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' }, versions: [version()], ...spec },
});
const errorsOf = (spec: Loose, metadata: Loose = {}): string[] => create(Kind, definition(spec, metadata), env).errors;

test('a definition is completed', () => {
  const { object, errors } = create(Kind, { ...definition(), status: { storedVersions: ['v0'] } }, env);
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ names: { singular: 'gadget', listKind: 'GadgetList' }, conversion: { strategy: 'None' } });
  expect(object.status).toEqual({ acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] });
});

test.each<[string, Loose, string[]]>([
  [
    'a group without a dot',
    { group: 'example' },
    ['metadata.name | Invalid', 'spec.group | Invalid | Invalid value: "example": should be a domain with at least one dot'],
  ],
  ['a scope', { scope: 'Global' }, ['spec.scope | NotSupported | Unsupported value: "Global": supported values: "Cluster", "Namespaced"']],
  ['two versions of one name', { versions: [version(), version({ storage: false })] }, ['spec.versions | Invalid']],
  [
    'two stored versions',
    { versions: [version(), version({ name: 'v2' })] },
    ['exactly one version marked as storage version', 'status.storedVersions | Invalid'],
  ],
  ['odd versions', { versions: [version({ name: '1v' })] }, ['spec.versions[0].name | Invalid', 'spec.version | Invalid']],
  [
    'names',
    { names: { plural: 'gadgets', kind: 'My_Gadget', listKind: 'My_Gadget', shortNames: ['G'] } },
    [
      'names.singular | Invalid',
      'names.kind | Invalid',
      'names.listKind | Invalid',
      'names.shortNames[0] | Invalid',
      'kind and listKind may not be the same',
    ],
  ],
  ['no schema', { versions: [version({ schema: undefined })] }, ['spec.versions[0].schema.openAPIV3Schema | Required']],
  ['unknown fields kept everywhere', { preserveUnknownFields: true }, ['spec.preserveUnknownFields | Invalid']],
  ['a warning for what is not deprecated', { versions: [version({ deprecationWarning: 'old' })] }, ['deprecationWarning | Invalid']],
  [
    'a warning of two lines',
    { versions: [version({ deprecated: true, deprecationWarning: 'é\n' })] },
    ['non-printable character found at index 2'],
  ],
  [
    'columns',
    { versions: [version({ additionalPrinterColumns: [{ type: 'object', format: 'email', jsonPath: 'spec' }] })] },
    ['additionalPrinterColumns[0].name | Required', 'type | Invalid', 'format | Invalid', 'JSONPath | Invalid'],
  ],
  [
    'scales',
    { versions: [version({ subresources: { scale: { specReplicasPath: '.replicas', labelSelectorPath: '.metadata.x' } } })] },
    ['spec.subresources.scale.specReplicasPath | Invalid', 'statusReplicasPath | Required', 'labelSelectorPath | Invalid'],
  ],
  [
    'conversions',
    { conversion: { strategy: 'Webhook' } },
    ['spec.conversion.webhookClientConfig | Required', 'spec.conversion.conversionReviewVersions | Required'],
  ],
  [
    'webhooks without use',
    { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://h' } } } },
    ['webhookClientConfig | Forbidden', 'conversionReviewVersions | Forbidden'],
  ],
])('a definition refuses %s', (_name, spec, texts) => {
  expect(errorsOf(spec)).toEqual(like(texts));
});

test('what versions do not have in common is reported for each', () => {
  const wrong = version({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } } });
  const other = version({ name: 'v2', storage: false });
  expect(errorsOf({ versions: [wrong] })).toEqual(like(['spec.validation.openAPIV3Schema.properties[spec].type | Required']));
  expect(errorsOf({ versions: [wrong, other] })).toEqual(
    like(['spec.versions[0].schema.openAPIV3Schema.properties[spec].type | Required']),
  );
});

test('groups of the server itself need approval, under any identity', () => {
  for (const [identity, group] of [
    [kubernetes, 'x.k8s.io'],
    [plat, 'x.plat.dev'],
  ] as const) {
    const kind = customResourceDefinitionKind(identity);
    const name = `gadgets.${group}`;
    const note = `api-approved.${identity.domain}`;
    const errors = (annotations: Loose) => create(kind, definition({ group }, { name, annotations }), { ...env, identity }).errors;
    expect(errors({})).toEqual(like([`metadata.annotations[${note}] | Required`]));
    expect(errors({ [note]: 'sure' })).toEqual(like([`metadata.annotations[${note}] | Invalid`]));
    expect(errors({ [note]: 'unapproved, a test' })).toEqual([]);
    expect(errors({ [note]: 'https://example.com/1' })).toEqual([]);
  }
});

test('versions in which objects may be stored stay', () => {
  const { object } = create(Kind, definition({ versions: [version(), version({ name: 'v2', storage: false })] }), env);
  const moved = update(
    Kind,
    object,
    (o) => {
      o.spec.versions[0].storage = false;
      o.spec.versions[1].storage = true;
    },
    '',
    env,
  );
  expect(moved.errors).toEqual([]);
  expect(moved.object.status.storedVersions).toEqual(['v1', 'v2']);
  const dropped = update(Kind, moved.object, (o) => o.spec.versions.shift(), '', env);
  expect(dropped.errors).toEqual(['status.storedVersions[0] | Invalid | Invalid value: "v1": must appear in spec.versions']);
  const told = update(Kind, moved.object, (o) => Object.assign(o.status, { storedVersions: ['v2'] }), 'status', env);
  expect(told.errors).toEqual([]);
  expect(update(Kind, told.object, (o) => o.spec.versions.shift(), '', env).errors).toEqual([]);
});

test('an established kind stays what it is; before that, only its name does', () => {
  const { object } = create(Kind, definition(), env);
  const change = (o: Loose): void => {
    Object.assign(o.spec, { scope: 'Cluster', group: 'other.com' });
    o.spec.names.kind = 'Other';
  };
  expect(update(Kind, object, change, '', env).errors).toEqual(like(['spec.group | Invalid']));
  object.status.conditions = [{ type: 'Established', status: 'True' }];
  expect(update(Kind, object, change, '', env).errors).toEqual(
    like(['spec.scope | Invalid', 'spec.names.kind | Invalid', 'spec.group | Invalid']),
  );
});

// ---- schemas -----------------------------------------------------------------------------------------------------

const schemaErrors = (openAPIV3Schema: Loose, fields: Loose = {}): string[] =>
  errorsOf({ versions: [version({ schema: { openAPIV3Schema }, ...fields })] }).map((text) =>
    text.replace('spec.validation.openAPIV3Schema', 'S'),
  );
const field = (spec: Loose): string[] => schemaErrors({ type: 'object', properties: { spec } });

test.each<[string, Loose, string[]]>([
  ['no type', {}, ['S.properties[spec].type | Required']],
  ['an odd type', { type: 'int' }, ['S.properties[spec].type | NotSupported']],
  ['items without a schema', { type: 'array' }, ['S.properties[spec].items | Required']],
  [
    'fields of two sorts',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    ['additionalProperties and properties are mutual exclusive'],
  ],
  ['references', { type: 'object', $ref: '#/x' }, ['S.properties[spec].$ref | Forbidden']],
  ['lists of schemas', { type: 'array', items: [{ type: 'string' }] }, ['S.properties[spec].items | Forbidden']],
  ['unique items', { type: 'array', items: { type: 'string' }, uniqueItems: true }, ['uniqueItems | Forbidden']],
  [
    'structure in combinations',
    { type: 'string', oneOf: [{ title: 'x' }, { description: 'y' }], not: { default: 'z' }, allOf: [{ nullable: true }] },
    ['allOf[0].nullable', 'not.default', 'oneOf[0].title', 'oneOf[1].description'],
  ],
  ['patterns that look ahead', { type: 'string', pattern: '(?!x)' }, ['error parsing regexp: invalid or unsupported Perl syntax: `(?!`']],
  [
    'markers on the wrong type',
    { type: 'object', 'x-kubernetes-list-type': 'set' },
    ['must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'maps without keys',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
    ['x-kubernetes-list-map-keys | Required'],
  ],
  [
    'keys that may be absent',
    {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    ['items.properties[k].default | Required'],
  ],
  [
    'sets of things with parts',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    ['items.x-kubernetes-map-type | Invalid'],
  ],
  [
    'embedded resources without fields',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    ['S.properties[spec].properties | Required'],
  ],
  ['unknown fields kept by halves', { type: 'object', 'x-kubernetes-preserve-unknown-fields': false }, ['must be true or undefined']],
  ['number or text, with its types', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, []],
  [
    'defaults of another type',
    { type: 'integer', default: 'three' },
    ['TypeInvalid | Invalid value: "string":  in body must be of type integer: "string"'],
  ],
  ['defaults with unknown fields', { type: 'object', default: { z: 2 } }, ['must not have unknown fields']],
  [
    'defaults with an object inside that does not say what it is',
    {
      type: 'object',
      default: { inside: { kind: 'Pod' } },
      properties: {
        inside: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    ['default.inside.apiVersion | Required'],
  ],
  [
    'defaults deep within',
    { type: 'object', default: { n: 7 }, properties: { n: { type: 'integer', maximum: 3 } } },
    ['default.n | Invalid | Invalid value: 7: n in body should be less than or equal to 3'],
  ],
])('a schema refuses %s', (_name, spec, texts) => {
  expect(field(spec)).toEqual(like(texts));
});

test('the root of a schema', () => {
  expect(schemaErrors({ type: 'string' })).toEqual(like(['S.type | Invalid | Invalid value: "string": must be object at the root']));
  expect(schemaErrors({ type: 'object', nullable: true })).toEqual(like(['S.nullable | Forbidden']));
  expect(schemaErrors({ type: 'object', properties: { metadata: { type: 'object', required: ['name'] } } })).toEqual(
    like(['S.properties[metadata] | Forbidden']),
  );
  expect(
    schemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 9 } } } } }),
  ).toEqual([]);
  expect(schemaErrors({ type: 'object', properties: { kind: { type: 'string', default: 'x' } } })).toEqual(
    like(['must not be set in top-level kind']),
  );
  expect(schemaErrors({ type: 'object', anyOf: [{ properties: { spec: { minLength: 1 } } }] })).toEqual(
    like([
      'S.properties[spec] | Required | Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[spec]',
    ]),
  );
  expect(schemaErrors({ type: 'object', minProperties: 1 }, { subresources: { status: {} } })).toEqual(like(['S | Invalid']));
});

test('rules in a schema are dropped while their feature is off', () => {
  const spec = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: 'self.a >' }],
    properties: { l: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'x' }] } } },
  };
  const { object, errors } = create(
    Kind,
    definition({ versions: [version({ schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } })] }),
    env,
  );
  expect(errors).toEqual([]);
  expect(JSON.stringify(object)).not.toContain('validations');
});

test('versions, columns, short names and categories have bounds', () => {
  const many = (count: number, make: (i: number) => Loose): Loose[] => Array.from({ length: count }, (_, i) => make(i));
  const versions = (count: number): Loose => ({ versions: many(count, (i) => version({ name: `v${i + 1}`, storage: i === 0 })) });
  expect(errorsOf(versions(100))).toEqual([]);
  expect(errorsOf(versions(101))).toEqual(like(['spec.versions | TooMany | Too many: 101: must have at most 100 items']));
  const additionalPrinterColumns = many(101, (i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec' }));
  expect(errorsOf({ versions: [version({ additionalPrinterColumns })] })).toEqual(like(['additionalPrinterColumns | TooMany']));
  const names = { plural: 'gadgets', kind: 'Gadget', shortNames: many(101, (i) => `s${i}`) };
  expect(errorsOf({ names })).toEqual(like(['spec.names.shortNames | TooMany']));
});

/** A schema with as many parts below its root, `combined` of them in combinations. */
const schemaOf = (parts: number, combined = 0): JSONSchemaProps => {
  const string = { type: 'string' };
  const properties: Record<string, JSONSchemaProps> = {};
  for (let i = 0; i < parts - combined; i++) properties[`p${i}`] = string;
  const part = { maxLength: 5 };
  if (combined > 0) properties.p0 = { ...string, anyOf: Array.from({ length: combined }, () => part) };
  return { type: 'object', properties };
};
/** A definition of a version for each schema, as it is stored. */
const definitionOf = (...schemas: JSONSchemaProps[]): CustomResourceDefinition => {
  const versions = schemas.map((openAPIV3Schema, i) =>
    version({ name: `v${i + 1}`, storage: i === 0, schema: { openAPIV3Schema }, subresources: undefined }),
  );
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  const status = { storedVersions: ['v1'], acceptedNames: { plural: '', kind: '' } };
  return { ...definition({ versions, names, conversion: { strategy: 'None' } }), status };
};
const faultsOf = (made: CustomResourceDefinition, old?: CustomResourceDefinition): string[] => {
  const errors = new FieldErrors();
  const work = old === undefined ? validateDefinition(made, errors, env) : validateDefinitionUpdate(made, old, errors, env);
  if (work !== undefined) atOnce(work);
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
};

test('parts of all schemas of a definition have a bound, and a definition that was stored with more can be changed but not grow', () => {
  // The roots of the schemas are parts as well.
  const half = schemaOf(MAX_PARTS / 2 - 1);
  const more = schemaOf(MAX_PARTS / 2);
  expect(faultsOf(definitionOf(half, half))).toEqual([]);
  const fault = [
    `spec.versions: Forbidden: the schemas of all versions have ${MAX_PARTS + 1} parts, at most ${MAX_PARTS} are allowed: make them smaller`,
  ];
  expect(faultsOf(definitionOf(half, more))).toEqual(fault);
  expect(faultsOf(definitionOf(half, more), definitionOf(half, half))).toEqual(fault);
  expect(faultsOf(definitionOf(more, more), definitionOf(more, more))).toEqual([]);
});

test('parts of combinations have a bound of their own', () => {
  expect(faultsOf(definitionOf(schemaOf(MAX_COMBINED + 1, MAX_COMBINED)))).toEqual([]);
  expect(faultsOf(definitionOf(schemaOf(MAX_COMBINED + 2, MAX_COMBINED + 1)))).toEqual([
    expect.stringContaining(`have ${MAX_COMBINED + 1} parts within allOf, anyOf, oneOf and not, at most ${MAX_COMBINED} are allowed`),
  ]);
  const count = { parts: 0, combined: 0 };
  countParts({ allOf: [{}, { not: { oneOf: [{}, {}] } }], anyOf: [{ items: { allOf: [{}] } }] }, count);
  expect(count).toEqual({ parts: 9, combined: 7 });
});

test('schemas are validated in steps, those of two versions one after the other', () => {
  const stepsOf = (...schemas: JSONSchemaProps[]): number => {
    const errors = new FieldErrors();
    let steps = 0;
    const made = definitionOf(...schemas);
    for (const work of [validateDefinition(made, errors, env), validateDefinitionUpdate(made, made, errors, env)])
      while (work !== undefined && work.next().done !== true) steps++;
    expect(errors.list).toEqual([]);
    return steps;
  };
  // Before and after versions are compared, after each property, and between four walks over each schema; for a create and an
  // update. A create looks for rules as well.
  expect(stepsOf(schemaOf(10))).toBe(2 * (2 + 10 + 3) + 1);
  expect(stepsOf(schemaOf(10), schemaOf(11))).toBe(2 * (2 + 10 + 3 + 11 + 3) + 2);
});
