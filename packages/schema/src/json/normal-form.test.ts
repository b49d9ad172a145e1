import { expect, test } from 'vitest';
import { always, bytes, int32, json, list, map, message, object, opt, ptr, quantity, raw, req, string, time } from '../types.ts';
import { decode } from './index.ts';
import { isNormal } from './normal-form.ts';

const Port = message('t.v1.Port', { name: opt(1, string), port: req(2, int32) });
const Spec = message('t.v1.Spec', {
  replicas: ptr(1, int32),
  ports: opt(2, list(Port)),
  limits: opt(3, map(quantity)),
  least: opt(4, quantity),
  secret: opt(5, bytes),
  rules: always(6, list(string)),
  since: opt(7, time),
  anything: opt(8, json),
  template: opt(9, raw),
});
const Thing = object('t.v1.Thing', { spec: always(1, Spec), data: opt(2, map(string)) });
const Open = message('t.v1.Open', { a: opt(1, string) }, { unknown: 'keep' });

test('what decoding gives is in the normal form', () => {
  const given = {
    kind: 'Thing',
    data: { b: '2', a: '1' },
    spec: {
      replicas: 0,
      ports: [{ port: 1 }, { name: 'x', port: 0 }],
      limits: { cpu: '500m', memory: '1024Mi' },
      secret: 'YQ==',
      rules: ['x'],
      since: '2024-01-01T00:00:00Z',
      anything: [null, 1, { a: null }],
      template: {},
    },
  };
  expect(isNormal(Thing, decode(Thing, given))).toBe(true);
  expect(isNormal(Thing, decode(Thing, {}))).toBe(true);
});

test.each<[string, object]>([
  ['an always message that is missing', {}],
  ['a null', { spec: {}, data: null }],
  ['an undefined', { spec: {}, data: undefined }],
  ['a field that there is not', { spec: {}, extra: '' }],
  ['keys out of order', { spec: {}, data: { b: '1', a: '2' } }],
  ['an empty map', { spec: {}, data: {} }],
  ['an empty list, also where JSON writes null for it', { spec: { rules: [] } }],
  ['an empty text', { spec: {}, kind: '' }],
  ['an item without its always field', { spec: { ports: [{}] } }],
  ['a null in a list', { spec: { rules: [null] } }],
  ['a quantity in another spelling', { spec: { limits: { cpu: '1000m' } } }],
  ['a quantity of nothing, which JSON leaves out', { spec: { least: '0' } }],
  ['no quantity at all', { spec: { least: 'many' } }],
  ['bytes in another spelling', { spec: { secret: 'YR==' } }],
  ['a time in another spelling', { spec: { since: '2024-01-01T01:00:00+01:00' } }],
  ['a number where a text belongs', { spec: {}, kind: 1 }],
  ['a list where an object belongs', { spec: [] }],
  ['an undefined deep in a value without a schema', { spec: { template: { a: { b: undefined } } } }],
  ['no number, in a value without a schema', { spec: { anything: Number.NaN } }],
])('%s is not', (_what, value) => {
  expect(isNormal(Thing, value)).toBe(false);
});

test('fields that the schema does not name are looked at where they are kept', () => {
  expect(isNormal(Open, { a: 'x', b: { c: null } })).toBe(true);
  expect(isNormal(Open, { a: 'x', b: undefined })).toBe(false);
  expect(isNormal(message('t.v1.Odd', { constructor: opt(1, string) }), { constructor: 'x' })).toBe(false);
});
