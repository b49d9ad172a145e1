import { atOnce } from '@plat-dev/lib/slices';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { type OpenApiOptions, openApiV2Definitions, openApiV3Schemas } from './openapi.ts';
import {
  always,
  bool,
  bytes,
  double,
  inline,
  int32,
  int64,
  intOrString,
  json,
  lazy,
  list,
  type MessageType,
  map,
  message,
  object,
  opt,
  ptr,
  quantity,
  req,
  string,
  time,
  union,
} from './types.ts';

const options: OpenApiOptions = {
  name: (type) => `io.example.${type}`,
  extensionPrefix: kubernetes.schemaExtensionPrefix,
  describe: (type, field) => (type === 't.v1.Thing' ? `about ${field ?? 'things'}` : undefined),
  kinds: (type) => (type === 't.v1.Thing' ? [{ group: 't', version: 'v1', kind: 'Thing' }] : undefined),
};
const Port = message(
  't.v1.Port',
  { port: req(1, int32), protocol: opt(2, string, { default: 'TCP', enum: ['TCP', 'UDP'] }), target: ptr(3, intOrString) },
  { atomic: true },
);
const Source = message('t.v1.Source', { data: opt(1, bytes), ratio: ptr(2, double), count: opt(3, int64), on: opt(4, bool) });
const Spec = message('t.v1.Spec', {
  ports: req(1, list(Port, 'map', ['port', 'protocol']), { patch: 'merge', mergeKey: 'port' }),
  names: opt(2, list(string, 'set')),
  args: opt(3, list(string)),
  selector: opt(4, map(string, { atomic: true })),
  limits: opt(5, map(quantity)),
  source: inline(6, Source),
  main: ptr(7, Port),
  first: always(8, Port),
});
const Thing = object('t.v1.Thing', { at: always(1, time), spec: always(2, Spec) });

test('version 2 definitions', () => {
  expect(atOnce(openApiV2Definitions([Thing], options))).toEqual({
    'io.example.api.resource.Quantity': { type: 'string' },
    'io.example.meta.v1.Time': { type: 'string', format: 'date-time' },
    'io.example.t.v1.Port': {
      type: 'object',
      required: ['port'],
      properties: {
        port: { type: 'integer', format: 'int32' },
        protocol: { type: 'string', default: 'TCP', enum: ['TCP', 'UDP'] },
        target: { $ref: '#/definitions/io.example.util.intstr.IntOrString' },
      },
      'x-kubernetes-map-type': 'atomic',
    },
    'io.example.t.v1.Spec': {
      type: 'object',
      required: ['ports'],
      properties: {
        ports: {
          type: 'array',
          items: { $ref: '#/definitions/io.example.t.v1.Port' },
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-patch-merge-key': 'port',
          'x-kubernetes-patch-strategy': 'merge',
        },
        names: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        args: { type: 'array', items: { type: 'string' } },
        selector: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        limits: { type: 'object', additionalProperties: { $ref: '#/definitions/io.example.api.resource.Quantity' } },
        data: { type: 'string', format: 'byte' },
        ratio: { type: 'number', format: 'double' },
        count: { type: 'integer', format: 'int64' },
        on: { type: 'boolean' },
        main: { $ref: '#/definitions/io.example.t.v1.Port' },
        first: { $ref: '#/definitions/io.example.t.v1.Port' },
      },
    },
    'io.example.t.v1.Thing': {
      description: 'about things',
      type: 'object',
      properties: {
        kind: { type: 'string', description: 'about kind' },
        apiVersion: { type: 'string', description: 'about apiVersion' },
        at: { $ref: '#/definitions/io.example.meta.v1.Time', description: 'about at' },
        spec: { $ref: '#/definitions/io.example.t.v1.Spec', description: 'about spec' },
      },
      'x-kubernetes-group-version-kind': [{ group: 't', version: 'v1', kind: 'Thing' }],
    },
    'io.example.util.intstr.IntOrString': { type: 'string', format: 'int-or-string' },
  });
});

test('in version 3 references stand inside allOf, and what is either number or text says so', () => {
  const schemas = atOnce(openApiV3Schemas([Thing], options));
  const spec = schemas['io.example.t.v1.Spec']?.properties as Record<string, unknown>;
  expect(schemas['io.example.t.v1.Thing']?.properties).toMatchObject({
    spec: { allOf: [{ $ref: '#/components/schemas/io.example.t.v1.Spec' }], default: {}, description: 'about spec' },
  });
  expect(spec.main).toEqual({ allOf: [{ $ref: '#/components/schemas/io.example.t.v1.Port' }] });
  expect(spec.first).toEqual({ allOf: [{ $ref: '#/components/schemas/io.example.t.v1.Port' }], default: {} });
  expect(spec.ports).toMatchObject({ items: { allOf: [{ $ref: '#/components/schemas/io.example.t.v1.Port' }], default: {} } });
  expect(schemas['io.example.util.intstr.IntOrString']).toEqual({
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  });
});

test('types that contain themselves are written once', () => {
  const Node: MessageType = message('t.v1.Node', {
    children: opt(1, map(lazy(() => Node))),
    more: ptr(2, union('t.v1.NodeOrBool', { tag: 2, type: lazy(() => Node) }, { tag: 1, type: bool })),
    any: ptr(3, json),
  });
  expect(atOnce(openApiV2Definitions([Node], { ...options, extensionPrefix: 'x-plat.dev-' }))).toEqual({
    'io.example.apiextensions.v1.JSON': {},
    'io.example.t.v1.Node': {
      type: 'object',
      properties: {
        children: { type: 'object', additionalProperties: { $ref: '#/definitions/io.example.t.v1.Node' } },
        more: { $ref: '#/definitions/io.example.t.v1.NodeOrBool' },
        any: { $ref: '#/definitions/io.example.apiextensions.v1.JSON' },
      },
    },
    'io.example.t.v1.NodeOrBool': {},
  });
});

test('the work can be interrupted after each schema', () => {
  const work = openApiV2Definitions([Thing], options);
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses++;
  expect(pauses).toBe(Object.keys(step.value).length);
});
