import { FieldErrors, Path } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import type { JSONSchemaProps } from './schema/json-schema.ts';
import type { CustomResourceDefinitionVersion } from './schema/v1.ts';
import { selectableReader, selectorName } from './selectable-fields.ts';
import { hoist, validateSelectable } from './version-rules.ts';

const schema = (description = ''): JSONSchemaProps => ({
  ...{ type: 'object', description },
  properties: {
    metadata: { type: 'object', properties: { name: { type: 'string' } } },
    spec: {
      type: 'object',
      properties: {
        ...{ color: { type: 'string' }, size: { type: 'integer' }, on: { type: 'boolean' }, ratio: { type: 'number' } },
        ...{ list: { type: 'array', items: { type: 'string' } }, sub: { type: 'object', additionalProperties: { type: 'string' } } },
      },
    },
  },
});
const version = (name: string, paths: readonly string[], description = ''): CustomResourceDefinitionVersion =>
  ({
    ...{ name, served: true, storage: true, schema: { openAPIV3Schema: schema(description) } },
    selectableFields: paths.map((jsonPath) => ({ jsonPath })),
  }) as unknown as CustomResourceDefinitionVersion;
function errorsOf(versions: readonly CustomResourceDefinitionVersion[], old?: readonly CustomResourceDefinitionVersion[]): string[] {
  const errors = new FieldErrors();
  validateSelectable(versions, old, hoist(versions), Path.of('spec'), errors);
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
}
const one = (...paths: string[]): string[] => errorsOf([version('v1', paths)]).map((text) => text.replace(/^spec\.selectableFields/, ''));

const scalar = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
test.each<[string, string]>([
  ['.spec.list', scalar],
  ['.spec.sub', scalar],
  ['.spec.ratio', scalar],
  ['.metadata.name', 'must not point to fields in metadata'],
  ['spec.color', 'is an invalid path: expected [ or . but got: spec'],
  ['$.spec.color', 'is an invalid path: expected [ or . but got: $'],
  ['.spec.nothing', 'is an invalid path: does not refer to a valid field'],
  ['.spec.color.x', 'is an invalid path: does not refer to a valid field'],
  ['.spec.list[0]', 'is an invalid path: array notation is not allowed'],
  ['.spec["color"]', 'is an invalid path: array notation is not allowed'],
])('the path %s %s', (path, fault) => {
  expect(one(path)).toEqual([`[0].jsonPath: Invalid value: ${JSON.stringify(path)}: ${fault}`]);
});
test('paths are there, once, and not too many', () => {
  expect(one('')).toEqual(['[0].jsonPath: Required value']);
  expect(one('.spec.color', '.spec.color')).toEqual(['[1].jsonPath: Duplicate value: ".spec.color"']);
  const many = Array.from({ length: 9 }, (_, i) => `.spec.sub.k${i}`);
  expect(one(...many)).toEqual([': Too many: 9: must have at most 8 items']);
  expect(one(...many.slice(1))).toEqual([]);
  expect(errorsOf([version('v1', many)], [version('v1', many)])).toEqual([]);
});
test('fields that are the same in all versions need a schema that is, and others one of their own', () => {
  const paths = ['.spec.color'];
  expect(errorsOf([version('v1', paths), version('v2', paths)])).toEqual([]);
  expect(errorsOf([version('v1', paths), version('v2', paths, 'another')])).toEqual([
    'spec.selectableFields: Invalid value: "": may only be set when validations.schema is included',
  ]);
  expect(errorsOf([version('v1', paths), version('v2', ['.spec.size'], 'another')])).toEqual([]);
  expect(errorsOf([version('v1', paths), version('v2', [])])).toEqual([
    'spec.versions[0].selectableFields: Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
  ]);
});
test('the text of a field is read where it is', () => {
  const read = (path: string, object: object): string => selectableReader({ jsonPath: path })(object);
  const object = { spec: { color: 'red', size: 5, on: false, sub: { deep: 'x' } } };
  expect(['.spec.color', '.spec.size', '.spec.on', '.spec.sub.deep'].map((path) => read(path, object))).toEqual(['red', '5', 'false', 'x']);
  expect(['.spec.nothing', '.spec.sub', '.status.x'].map((path) => read(path, object))).toEqual(['', '', '']);
  expect(selectorName({ jsonPath: '.spec.sub.deep' })).toBe('spec.sub.deep');
});
