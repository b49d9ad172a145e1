/** What holds for all schemas and all values. */

import { atOnce } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from './custom-schema.ts';
import { fitsOf } from './schema-match.ts';
import { validateValue } from './validate.ts';

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const names = fc.constantFrom('a', 'b', 'c', 'metadata', 'constructor');
const flag = fc.option(fc.constant(true), { nil: undefined });

/** An optional keyword with a value. */
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 });
const small = fc.integer({ min: 0, max: 3 });
const plain = fc.oneof(fc.constantFrom('', 'a', 'ab', '🙂', '10.0.0.1'), fc.constantFrom(0, 1, 2, 2.5, -1), fc.boolean());
const leafValue: fc.Arbitrary<JsonValue> = fc.oneof(plain, fc.constant(null));

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leafValue,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  ),
}));

/** Parts of combinations, which narrow values only. */
const narrowing = fc.record({
  minLength: some(small),
  maxLength: some(small),
  pattern: some(fc.constantFrom('^a', 'b$')),
  format: some(fc.constantFrom('ipv4', 'date-time', 'int32')),
  minimum: some(fc.constantFrom(0, 1, 1.5)),
  maximum: some(fc.constantFrom(1, 2, 2.5)),
  exclusiveMaximum: flag,
  multipleOf: some(fc.constantFrom(0.5, 2)),
  enum: some(fc.array(leafValue, { minLength: 1, maxLength: 3 })),
  minItems: some(small),
  maxItems: some(small),
  maxProperties: some(small),
  required: some(fc.uniqueArray(names, { maxLength: 2 })),
});

const combined = fc
  .tuple(
    narrowing,
    fc.record({
      anyOf: some(fc.array(narrowing, { minLength: 1, maxLength: 2 })),
      oneOf: some(fc.array(narrowing, { minLength: 1, maxLength: 2 })),
      allOf: some(fc.array(narrowing, { minLength: 1, maxLength: 2 })),
      not: some(narrowing),
    }),
  )
  .map((parts) => defined(Object.assign({}, ...parts)));

const { schema } = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
  schema: fc
    .tuple(
      fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalarType(), listType(tie('schema')), objectType(tie('schema'))),
      fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, combined),
      fc.record({ nullable: flag, default: some(value.filter((one) => one !== null)) }),
    )
    .map((parts) => defined(Object.assign({}, ...parts))),
}));

function scalarType(): fc.Arbitrary<JSONSchemaProps> {
  return fc.oneof(
    fc.constantFrom<JSONSchemaProps>({ type: 'string' }, { type: 'integer' }, { type: 'number' }, { type: 'boolean' }),
    fc.constantFrom<JSONSchemaProps>({ [x.intOrString]: true }, { [x.preserveUnknownFields]: true }),
  );
}
function listType(item: fc.Arbitrary<JSONSchemaProps>): fc.Arbitrary<JSONSchemaProps> {
  const markers = fc.constantFrom<JSONSchemaProps>({}, { [x.listType]: 'set' }, { [x.listType]: 'map', [x.listMapKeys]: ['a'] });
  return fc.tuple(item, markers).map(([items, marker]) => ({ type: 'array', items, ...marker }));
}
function objectType(field: fc.Arbitrary<JSONSchemaProps>): fc.Arbitrary<JSONSchemaProps> {
  const inside = fc.oneof(
    fc.dictionary(names, field, { maxKeys: 3 }).map((properties) => ({ properties })),
    fc.oneof(field, fc.boolean()).map((additionalProperties) => ({ additionalProperties })),
  );
  return fc.tuple(inside, flag, flag).map(([fields, keep, embedded]) => ({
    type: 'object',
    ...(embedded ? withoutMetadata(fields) : fields),
    ...(keep && { [x.preserveUnknownFields]: true }),
    ...(embedded && { [x.embeddedResource]: true }),
  }));
}
/** An object inside has named fields only, and what stands in its metadata is not its schema's to say. */
function withoutMetadata({ properties = {} }: JSONSchemaProps): JSONSchemaProps {
  const { metadata: _, ...others } = properties;
  return { properties: others };
}
function defined(schema: JSONSchemaProps): JSONSchemaProps {
  return Object.fromEntries(Object.entries(schema).filter(([, keyword]) => keyword !== undefined));
}

const root = fc.dictionary(names, schema, { maxKeys: 4 }).map((properties): JSONSchemaProps => ({ type: 'object', properties }));
const fields = fc.dictionary(names, value, { maxKeys: 5 });
const custom = (from: JSONSchemaProps): CustomSchema =>
  atOnce(CustomSchema.compile(from, false, kubernetes.schemaExtensionPrefix, 'example.v1.Thing'));
const objectOf = (from: object): ApiObject => ({
  ...structuredClone(from),
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
});

function freeze(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  Object.freeze(part);
  for (const inner of Object.values(part)) freeze(inner);
}
function isValid(rules: CustomSchema, object: ApiObject): boolean {
  const errors = new FieldErrors();
  rules.validate(object, errors);
  return errors.empty;
}

test('the quick look and the look for words agree', () => {
  fc.assert(
    fc.property(fc.oneof(schema, combined), value, (from, one) => {
      const errors = new FieldErrors();
      validateValue(one, from, x, undefined, errors);
      expect(fitsOf(from, x)(one)).toBe(errors.empty);
    }),
    { numRuns: rounds(3000) },
  );
});

test('a schema that has read an object finds nothing more to do, and touches nothing', () => {
  fc.assert(
    fc.property(root, fields, (from, values) => {
      const rules = custom(from);
      const object = objectOf(values);
      rules.prune(object, { broken: 'drop' });
      rules.fillDefaults(object);
      // A default of a definition holds only what its schema names; here it may be anything.
      rules.prune(object, { broken: 'drop' });
      rules.fillDefaults(object);
      freeze(object);
      rules.prune(object, { report: () => expect.unreachable(), broken: 'drop' });
      rules.fillDefaults(object);
    }),
    { numRuns: rounds(2000) },
  );
});

test('an object that is valid is so when it is read again', () => {
  fc.assert(
    fc.property(root, fields, (from, values) => {
      const rules = custom(from);
      const object = objectOf(values);
      rules.prune(object, { broken: 'drop' });
      fc.pre(isValid(rules, object));
      const again = structuredClone(object);
      rules.prune(again, { broken: 'drop' });
      expect(again).toEqual(object);
      expect(isValid(rules, again)).toBe(true);
    }),
    { numRuns: rounds(1000) },
  );
});

test('kind, version and metadata of the object are not the concern of its schema', () => {
  fc.assert(
    fc.property(root, fields, (from, values) => {
      const rules = custom(from);
      const object = objectOf(values);
      rules.prune(object, { broken: 'drop' });
      expect(object).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } });
    }),
  );
});

test('objects of any form have a structure and are looked at without a fall', () => {
  fc.assert(
    fc.property(root, fields, (from, values) => {
      const rules = custom(from);
      expect(rules.structure?.name).toBe('example.v1.Thing');
      isValid(rules, objectOf(values));
      rules.validateUpdate(objectOf(values), objectOf({}), new FieldErrors());
    }),
  );
});
