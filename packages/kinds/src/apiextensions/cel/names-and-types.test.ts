import type { CelType } from '@plat-dev/cel';
import { atOnce } from '@plat-dev/lib/slices';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { type Declared, declaredTypeOf, MAX_REQUEST_BYTES } from './declared-type.ts';
import { celName } from './escaped-names.ts';
import { normalFieldPath } from './field-path.ts';

const x = extensionNames(kubernetes.schemaExtensionPrefix);
const declared = (schema: JSONSchemaProps, root = false): Declared | undefined => atOnce(declaredTypeOf(schema, x, 'self', root));
const MOST = MAX_REQUEST_BYTES - 2;

test.each([
  ['replicas', 'replicas'],
  ['x-prop', 'x__dash__prop'],
  ['a.b/c', 'a__dot__b__slash__c'],
  ['redact__d', 'redact__underscores__d'],
  ['a___b', 'a__underscores___b'],
  ['namespace', '__namespace__'],
  ['if', '__if__'],
  ['iff', 'iff'],
  ['_a', '_a'],
  ['3d', undefined],
  ['', undefined],
  ['a b', undefined],
  ['ä', undefined],
  ['$ref', undefined],
])('the property %s is %s in expressions', (property, name) => {
  expect(celName(property)).toBe(name);
});

test.each<[string, JSONSchemaProps, CelType | undefined]>([
  ['a text', { type: 'string' }, { kind: 'string', maxSize: MOST }],
  ['a text with a bound, in characters', { type: 'string', maxLength: 5 }, { kind: 'string', maxSize: 20 }],
  ['an enumeration', { type: 'string', enum: ['a', 'long'] }, { kind: 'string', maxSize: 4 }],
  ['bytes', { type: 'string', format: 'byte', maxLength: 5 }, { kind: 'bytes', maxSize: 5 }],
  ['a time', { type: 'string', format: 'date-time' }, { kind: 'timestamp', maxSize: 32 }],
  ['a date', { type: 'string', format: 'date' }, { kind: 'timestamp', maxSize: 12 }],
  ['a duration', { type: 'string', format: 'duration' }, { kind: 'duration', maxSize: 32 }],
  ['another format', { type: 'string', format: 'ipv4' }, { kind: 'string', maxSize: MOST }],
  ['an integer', { type: 'integer', format: 'int32' }, { kind: 'int' }],
  ['a number', { type: 'number' }, { kind: 'double' }],
  ['a boolean', { type: 'boolean' }, { kind: 'bool' }],
  ['an integer or a text', { [x.intOrString]: true }, { kind: 'dyn', maxSize: MOST }],
  ['a list with a bound', { type: 'array', items: { type: 'integer' }, maxItems: 3 }, { kind: 'list', of: { kind: 'int' }, maxSize: 3 }],
  [
    'a list without one, of values of a byte and a comma',
    { type: 'array', items: { type: 'integer' } },
    { kind: 'list', of: { kind: 'int' }, maxSize: Math.floor(MOST / 2) },
  ],
  [
    'a set',
    { type: 'array', items: { type: 'integer' }, maxItems: 3, [x.listType]: 'set' },
    { kind: 'list', of: { kind: 'int' }, maxSize: 3, listType: 'set' },
  ],
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'boolean' }, maxProperties: 2 },
    { kind: 'map', key: { kind: 'string', maxSize: 0 }, of: { kind: 'bool' }, maxSize: 2 },
  ],
  ['what nothing is known of', { [x.preserveUnknownFields]: true }, undefined],
  ['a list of it', { type: 'array', items: { [x.preserveUnknownFields]: true } }, undefined],
  ['a map of it', { type: 'object', additionalProperties: { [x.preserveUnknownFields]: true } }, undefined],
])('%s', (_, schema, type) => {
  expect(declared(schema)?.type).toEqual(type);
});

test('fields of an object are those that expressions can name and that the schema describes', () => {
  const found = declared({
    type: 'object',
    properties: {
      n: { type: 'integer' },
      'x-y': { type: 'boolean' },
      '3d': { type: 'boolean' },
      open: { [x.preserveUnknownFields]: true },
    },
  });
  expect(found?.type).toEqual({
    kind: 'object',
    name: 'self',
    fields: new Map([
      ['n', { property: 'n', type: { kind: 'int' } }],
      ['x__dash__y', { property: 'x-y', type: { kind: 'bool' } }],
    ]),
  });
  // Rules below a field that expressions cannot name run all the same.
  expect([...(found?.fields ?? new Map()).keys()]).toEqual(['n', 'x-y', '3d']);
});

test('kind, version and name of a resource can be read, and nothing else of its metadata', () => {
  const inside = { type: 'object', [x.embeddedResource]: true, [x.preserveUnknownFields]: true };
  for (const found of [declared({ type: 'object' }, true), declared(inside)]) {
    const type = found?.type;
    if (type?.kind !== 'object') throw new Error('not an object');
    expect([...type.fields.keys()]).toEqual(['apiVersion', 'kind', 'metadata']);
    const metadata = type.fields.get('metadata')?.type;
    expect(metadata?.kind === 'object' && [...metadata.fields.keys()]).toEqual(['name', 'generateName']);
  }
  expect(declared({ type: 'object' })?.fields?.size).toBe(0);
});

test('the shortest value of an object has its required fields, unless they have a default', () => {
  const string = { type: 'string' };
  expect(declared({ type: 'object', properties: { a: string } })?.minSize).toBe(2);
  expect(declared({ type: 'object', properties: { a: string, bc: string }, required: ['a', 'bc'] })?.minSize).toBe(2 + 7 + 8);
  expect(declared({ type: 'object', properties: { a: { ...string, default: 'x' } }, required: ['a'] })?.minSize).toBe(2);
});

test.each([
  ['.spec.n', 'spec.n'],
  [".spec['n']", 'spec.n'],
  [".labels['a.b']", 'labels[a.b]'],
  ['.labels.a', 'labels[a]'],
  [".labels['it\\'s']", "labels[it's]"],
  ['', ''],
  ['spec', undefined],
  ['.spec.m', undefined],
  ['.spec.constructor', undefined],
  ['.spec.n.x', undefined],
  ['.spec[0]', undefined],
  [".labels['a", undefined],
  [".labels['\\q']", undefined],
  ['.', undefined],
])('the field path %s is %s', (path, normal) => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer' } } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  };
  expect(normalFieldPath(path, schema)).toBe(normal);
});

test('other fields of the metadata of a resource inside can be read where its schema spells out kind, version and names as well', () => {
  const string = { type: 'string' };
  const labels = { type: 'object', additionalProperties: string };
  const inside = (
    metadata: Record<string, JSONSchemaProps>,
    more: Record<string, JSONSchemaProps> = { kind: string, apiVersion: string },
  ): JSONSchemaProps => ({
    type: 'object',
    [x.embeddedResource]: true,
    properties: { ...more, metadata: { type: 'object', properties: { ...metadata, labels } } },
  });
  const readable = (schema: JSONSchemaProps): string[] => {
    const type = declared(schema)?.type;
    const metadata = type?.kind === 'object' ? type.fields.get('metadata')?.type : undefined;
    return metadata?.kind === 'object' ? [...metadata.fields.keys()] : [];
  };
  expect(readable(inside({ name: string, generateName: string }))).toEqual(['name', 'generateName', 'labels']);
  expect(readable(inside({ name: string }))).toEqual(['name', 'generateName']);
  expect(readable(inside({ name: string, generateName: string }, { kind: string }))).toEqual(['name', 'generateName']);
});
