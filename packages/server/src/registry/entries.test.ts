import { expect, test } from 'vitest';
import type { Resource } from './catalog.ts';
import { COSTLY, checkEntries, MAX_ENTRIES } from './entries.ts';

const resource = { groupKind: { group: '', resource: 'ConfigMap' } } as unknown as Resource;
const map = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const check = (more: object) => checkEntries(resource, { metadata: { name: 'a' }, ...more } as never);

test('lists and maps have a bound, and a refusal names the field and the bound', () => {
  check({ data: map(MAX_ENTRIES), list: Array(MAX_ENTRIES).fill(1) });
  expect(() => check({ data: map(MAX_ENTRIES + 1) })).toThrow('data: Too many: 20001: must have at most 20000 items');
  expect(() => check({ spec: { rows: [{ list: Array(MAX_ENTRIES + 1).fill(1) }] } })).toThrow('spec.rows[0].list: Too many: 20001');
  const long = Array(MAX_ENTRIES + 1).fill(1);
  expect(() => check({ spec: { rows: [{}, { list: long, other: [[1], long] }], last: long } })).toThrow(
    /\[spec\.rows\[1\]\.list: Too many.*, spec\.rows\[1\]\.other\[1\]: Too many.*, spec\.last: Too many/,
  );
});

test('selectors, resources and webhooks have lower bounds, which do not hold for what is in them nor for custom kinds', () => {
  const custom = { ...resource, custom: true } as Resource;
  for (const [field, most] of COSTLY) {
    check({ spec: { [field]: map(most) } });
    check({ spec: { [field]: Array(most).fill({ rules: Array(most < 2_000 ? 2 : 0).fill('*') }) } });
    expect(() => check({ spec: { [field]: map(most + 1) } })).toThrow(
      `spec.${field}: Too many: ${most + 1}: must have at most ${most} items`,
    );
    checkEntries(custom, { metadata: { name: 'a' }, spec: { [field]: map(most + 1) } } as never);
  }
  check({ webhooks: [{ rules: Array(MAX_ENTRIES).fill({}) }] });
});

test('the fields of the longest map can be owned', () => {
  const fieldsV1 = { 'f:data': { '.': {}, ...map(MAX_ENTRIES) } };
  check({ metadata: { name: 'a', managedFields: [{ manager: 'm', fieldsV1 }] } });
});

test('an object that has more from before may still be changed', () => {
  const object = { metadata: { name: 'a' }, data: map(MAX_ENTRIES + 1) } as never;
  expect(() => checkEntries(resource, object, { metadata: { name: 'a' } } as never)).toThrow('Too many');
  checkEntries(resource, object, object);
});
