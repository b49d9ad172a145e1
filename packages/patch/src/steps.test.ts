/** Work on wide objects can be interrupted between its walks, and grows with the number of entries. */

import { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { list, object, opt, string } from '@plat-dev/schema/types';
import { expect, test, vi } from 'vitest';
import { checkApplied } from './applied.ts';
import { appliedObject, apply } from './apply.ts';
import { compare } from './compare.ts';
import { sentSet } from './fieldset-build.ts';
import { compareLarge, ENTRIES_A_PART } from './parts.ts';
import { ELEMENTS_A_STEP } from './path-element.ts';
import { recordedFields, recordUpdate } from './record-update.ts';
import { shapeOf, type Values } from './shape.ts';

const now = Date.UTC(2024, 0, 1);
const wide = (from: number, to: number): Values => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`k${from + i}`, 'v'])),
});
const write = (manager: string, live: Values | undefined, applied: Values) => ({
  type: ConfigMap,
  apiVersion: 'v1',
  kind: 'ConfigMap',
  manager,
  now,
  live,
  applied,
  force: true,
});
/** An object that so many managers applied, each its own keys. */
function appliedBy(managers: number): Values {
  let live: Values | undefined;
  for (let i = 0; i < managers; i++) {
    const { object, managedFields } = apply(write(`m${i}`, live, wide(i * 10, i * 10 + 10)));
    live = { ...object, metadata: { ...(object.metadata as Values), managedFields } };
  }
  return live as Values;
}
/** Made once: each manager is compared with all before it. No test changes it. */
const appliedByMany = appliedBy(50);
function pausesOf(work: Work<unknown>): number {
  let pauses = 0;
  while (!work.next().done) pauses++;
  return pauses;
}

test('an apply can be interrupted between its walks, and after each manager', () => {
  expect(pausesOf(appliedObject(write('one', undefined, wide(0, 100))))).toBeGreaterThanOrEqual(6);
  expect(pausesOf(appliedObject(write('last', appliedByMany, wide(5, 15))))).toBeGreaterThanOrEqual(100);
  // What the applier no longer names is looked for among the fields of all others.
  expect(pausesOf(appliedObject(write('m3', appliedByMany, wide(0, 5))))).toBeGreaterThanOrEqual(150);
});

test('who owns what after an update can be found in steps', () => {
  const live = appliedByMany;
  const object = { ...live, data: { ...(live.data as Values), k5: 'w' } };
  const work = recordedFields({ type: ConfigMap, apiVersion: 'v1', manager: 'm', now, live, object });
  expect(pausesOf(work)).toBeGreaterThanOrEqual(100);
});

test('a comparison of long lists and wide maps can be interrupted after some entries, and finds the same', () => {
  const deployment = (length: number, image: string): Values => ({
    spec: { template: { spec: { containers: Array.from({ length }, (_, i) => ({ name: `c${i}`, image })) } } },
  });
  const [few, many] = [deployment(300, 'a'), deployment(1500, 'b')];
  for (const [type, before, after] of [
    [ConfigMap, undefined, wide(0, 1500)],
    [ConfigMap, wide(0, 1500), wide(750, 2250)],
    [ConfigMap, wide(0, 1500), wide(0, 0)],
    [Deployment, undefined, many],
    [Deployment, few, many],
    [Deployment, many, few],
  ] as const) {
    const shape = shapeOf(type);
    expect(pausesOf(compareLarge(shape, before, after))).toBeGreaterThanOrEqual(1500 / ENTRIES_A_PART);
    expect(JSON.stringify(atOnce(compareLarge(shape, before, after)))).toBe(JSON.stringify(compare(shape, before, after)));
  }
});

test('the parts of an item of a list have its keys, whether they were sent or are the default', () => {
  const deployment = (ports: readonly Values[]): Values => ({ spec: { template: { spec: { containers: [{ name: 'c', ports }] } } } });
  const withDefault = deployment([{ containerPort: 80, name: 'a', hostPort: 1 }]);
  const withKey = deployment([{ containerPort: 80, protocol: 'TCP', name: 'b' }]);
  const shape = shapeOf(Deployment);
  for (const [before, after] of [
    [withDefault, withKey],
    [withKey, withDefault],
  ])
    expect(atOnce(compareLarge(shape, before, after, undefined, 0))).toEqual(compare(shape, before, after));
});

test('who owns what of a large new object is found in as many steps as it has parts', () => {
  const object = wide(0, 2_500);
  const write = { type: ConfigMap, apiVersion: 'v1', manager: 'm', now, live: undefined, object };
  expect(pausesOf(recordedFields({ ...write, large: true }))).toBeGreaterThanOrEqual(2_500 / ENTRIES_A_PART);
  expect(pausesOf(recordedFields(write))).toBeLessThan(5);
  expect(atOnce(recordedFields({ ...write, large: true }))).toEqual(atOnce(recordedFields(write)));
});

test('what an applier names in a long list or a wide map is found in as many steps as there are parts', () => {
  const one = write('one', undefined, wide(0, 2_500));
  expect(pausesOf(appliedObject({ ...one, large: true }))).toBeGreaterThanOrEqual((2 * 2_500) / ENTRIES_A_PART);
  expect(pausesOf(appliedObject(one))).toBeLessThan(20);
  expect(atOnce(appliedObject({ ...one, large: true }))).toEqual(apply(one));
});

test('long lists are applied with work that grows with their length', () => {
  /** How often a field of an item is looked at. */
  const reads = (length: number): number => {
    let count = 0;
    const counted = (item: object): object =>
      new Proxy(item, {
        get(target, name) {
          count++;
          return Reflect.get(target, name);
        },
        getOwnPropertyDescriptor(target, name) {
          count++;
          return Reflect.getOwnPropertyDescriptor(target, name);
        },
      });
    const containers = Array.from({ length }, (_, i) => counted({ name: `c${i}`, image: 'x' }));
    const applied = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { selector: {}, template: { spec: { containers } } },
    };
    const { managedFields } = apply({ ...write('m', undefined, applied), type: Deployment, apiVersion: 'apps/v1', kind: 'Deployment' });
    const [entry] = managedFields ?? [];
    const set = entry?.fieldsV1 as unknown as { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': object } } } };
    expect(Object.keys(set['f:spec']['f:template']['f:spec']['f:containers'])).toHaveLength(length);
    return count;
  };
  expect(reads(2_000)).toBeLessThan(2.2 * reads(1_000));
});

test('what ownership needs to know of a type is found once for each of its fields', () => {
  const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, opt(0, string)]));
  const looks = vi.spyOn(Array.prototype, 'indexOf');
  const shape = shapeOf(object('test.Wide', fields));
  const count = looks.mock.calls.length;
  looks.mockRestore();
  expect(count).toBeLessThan(100);
  expect(shape.node === 'message' && shape.fields.get('f10')?.rank).toBe(3);
});

test('items that are equal are not all reported', () => {
  const Sets = object('test.Sets', { set: opt(0, list(list(string), 'set')) });
  const problems = checkApplied(Sets, { set: Array.from({ length: 2_000 }, () => ['a']) });
  expect(problems).toHaveLength(20);
  expect(problems[0]).toContain('associative list with lists as elements');
});

test('sets of fields that a client sends are read in as many steps as they have parts', () => {
  const fields = (count: number, order = 1) => {
    const entries = Array.from({ length: count }, (_, i): [string, Values] => [`f:k${10_000 + i}`, {}]);
    return { 'f:data': Object.fromEntries([['.', {}], ...(order < 0 ? entries.reverse() : entries)]) };
  };
  const sent = (count: number, order?: number): Values => {
    const entry = { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: fields(count, order) };
    return { ...wide(10_000, 10_000 + count), metadata: { name: 'a', managedFields: [entry] } };
  };
  const write = (object: Values) => ({ type: ConfigMap, apiVersion: 'v1', manager: 'm', now, live: undefined, object });
  const pauses = (count: number) => pausesOf(recordedFields(write(sent(count))));
  expect(pauses(5 * ELEMENTS_A_STEP) - pauses(10)).toBe(5);
  // Whatever their order, they are stored in the one that sets have.
  expect(JSON.stringify(atOnce(sentSet(fields(100, -1))))).toBe(JSON.stringify(fields(100)));
});

test('sets of many managers are read in as many steps as they have parts together', () => {
  const managed = (count: number): Values => {
    const managedFields = Array.from({ length: count }, (_, i) => ({
      manager: `m${i}`,
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': Object.fromEntries(Array.from({ length: 100 }, (_, j) => [`f:k${j}`, {}])) },
    }));
    return { ...wide(0, 10), metadata: { name: 'a', managedFields } };
  };
  const write = (object: Values) => ({ type: ConfigMap, apiVersion: 'v1', manager: 'me', now, live: undefined, object });
  const reading = (count: number) => pausesOf(recordedFields(write(managed(count)))) - 2 * count;
  expect(reading(200) - reading(10)).toBeGreaterThanOrEqual(Math.floor((190 * 100) / ELEMENTS_A_STEP));
});

test('many managers are folded into one in as many steps as their sets have parts', () => {
  const managed = (count: number): Values => {
    const managedFields = Array.from({ length: count }, (_, i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': Object.fromEntries(Array.from({ length: 100 }, (_, j) => [`f:k${i % 20}-${10 + j}`, {}])) },
    }));
    return { ...wide(0, 10), metadata: { name: 'a', managedFields } };
  };
  const write = (object: Values) => ({ type: ConfigMap, apiVersion: 'v1', manager: 'me', now, live: undefined, object });
  const folding = (count: number) => pausesOf(recordedFields(write(managed(count)))) - 2 * count;
  expect(folding(300) - folding(9)).toBeGreaterThan((300 * 100) / ELEMENTS_A_STEP);
  const folded = recordUpdate(write(managed(300)));
  expect(folded).toHaveLength(10);
  expect(JSON.stringify(folded)).toBe(JSON.stringify(atOnce(recordedFields(write(managed(300))))));
});
