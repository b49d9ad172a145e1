import { expect, test } from 'vitest';
import { schemaFaults } from '../yaml/check-schema.ts';
import { parseText } from '../yaml/places.ts';
import { type OpenApiDocument, propertiesOf, rootSchema, schemaAt, typeText } from './schema.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const document: OpenApiDocument = {
  components: {
    schemas: {
      Web: {
        type: 'object',
        'x-plat.dev-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Web' }],
        properties: { metadata: { type: 'object' }, spec: { allOf: [reference('Spec')], description: 'What is wanted.' } },
      },
      Spec: {
        type: 'object',
        description: 'A specification.',
        required: ['parts'],
        properties: {
          parts: { type: 'array', items: reference('Part') },
          port: { 'x-kubernetes-int-or-string': true },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          policy: { type: 'string', enum: ['Always', 'Never'] },
          child: reference('Spec'),
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
        },
      },
      Part: { type: 'object', properties: { name: { type: 'string', description: 'Its name.' } } },
    },
  },
};
const root = rootSchema(document, { group: 'example.com', version: 'v1', kind: 'Web' })!;
const faultsOf = (text: string): string[] =>
  schemaFaults(parseText(text).root!, root).map(({ from, to, message }) => `${text.slice(from, to)}: ${message}`);

test('a kind that is not there has no schema', () => {
  expect(rootSchema(document, { group: 'example.com', version: 'v2', kind: 'Web' })).toBeUndefined();
});

test('fields are found through references, also through those to itself', () => {
  expect(schemaAt(root, ['spec', 'parts', 0, 'name'])?.description).toBe('Its name.');
  expect(schemaAt(root, ['spec', 'child', 'child', 'parts', 3, 'name'])?.description).toBe('Its name.');
  expect(schemaAt(root, ['spec', 'labels', 'constructor'])?.type).toBe('string');
  expect(schemaAt(root, ['spec', 'constructor'])).toBeUndefined();
  expect([...propertiesOf(schemaAt(root, ['spec'])).keys()]).toEqual(['parts', 'port', 'labels', 'policy', 'child', 'free']);
});

test('what stands beside a reference wins', () => {
  expect(schemaAt(root, ['spec'])?.description).toBe('What is wanted.');
});

test.each([
  [['spec', 'parts'], 'list of object'],
  [['spec', 'labels'], 'map of string'],
  [['spec', 'port'], 'integer or string'],
])('%j is a %s', (path, type) => {
  expect(typeText(schemaAt(root, path)!)).toBe(type);
});

test('faults stand at their keys', () => {
  expect(faultsOf('spec:\n  parts:\n  - nam: a\n  port: x\n  policy: Sometimes\n  labels:\n    a: 1\n  free:\n    b: 1\n')).toEqual([
    'nam: There is no field nam here.',
    'policy: Expected one of: Always, Never.',
    'a: Expected: string.',
  ]);
  expect(faultsOf('spec:\n  port: []\n')).toEqual(['port: Expected: integer or string.', 'spec: The field parts is missing.']);
});
