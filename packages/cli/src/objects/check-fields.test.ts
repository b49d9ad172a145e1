import { expect, test } from 'vitest';
import { Schemas } from '../discovery/explain-schema.ts';
import { unknownFields } from './check-fields.ts';

const schemas = new Schemas({
  Spec: {
    type: 'object',
    properties: {
      replicas: { type: 'integer' },
      parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      byName: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Part' } },
      anything: { type: 'object' },
      open: { type: 'object', properties: { a: { $ref: '#/components/schemas/Part' } }, 'x-example-preserve-unknown-fields': true },
      inner: { type: 'object', properties: { spec: { type: 'object' } }, 'x-example-embedded-resource': true },
    },
  },
  Part: { type: 'object', properties: { name: { type: 'string' } } },
});
const root = { type: 'object', properties: { spec: { allOf: [{ $ref: '#/components/schemas/Spec' }], default: {} } } };

test.each([
  [{ spec: { replicas: 1, labels: { any: 'x' }, anything: { at: { all: 1 } }, parts: null } }, []],
  [{ spc: {} }, ['unknown field "spc" (did you mean spec?)']],
  [{ spec: { replcas: 1 } }, ['unknown field "spec.replcas" (did you mean replicas?)']],
  [{ spec: { parts: [{ name: 'a' }, { nmae: 'b' }] } }, ['unknown field "spec.parts[1].nmae" (did you mean name?)']],
  [{ spec: { byName: { x: { nam: 'b' } } } }, ['unknown field "spec.byName.x.nam" (did you mean name?)']],
  [{ spec: { open: { b: 1, a: { zzzz: 1 } } } }, ['unknown field "spec.open.a.zzzz"']],
  [
    { spec: { inner: { apiVersion: 'v1', kind: 'X', metadata: { any: 1 }, spec: { any: 1 }, zzzz: 1 } } },
    ['unknown field "spec.inner.zzzz"'],
  ],
])('%j', (object, problems) => {
  expect(unknownFields(schemas, root, object)).toEqual(problems);
});
