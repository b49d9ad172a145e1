/** Work on wide objects can be interrupted between its walks, and grows with the number of entries. */
import { expect, test } from 'vitest';
import { Deployment } from '../kinds/apps/schema/deployment.ts';
import { ConfigMap } from '../kinds/core/schema/config.ts';
import type { Work } from '../lib/slices.ts';
import { apply, applySteps } from './apply.ts';
import { recordUpdateSteps } from './record-update.ts';
import type { Values } from './shape.ts';

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
function pausesOf(work: Work<unknown>): number {
  let pauses = 0;
  while (!work.next().done) pauses++;
  return pauses;
}

test('an apply can be interrupted between its walks, and after each manager', () => {
  expect(pausesOf(applySteps(write('one', undefined, wide(0, 100))))).toBeGreaterThanOrEqual(6);
  expect(pausesOf(applySteps(write('last', appliedBy(100), wide(5, 15))))).toBeGreaterThanOrEqual(200);
  // What the applier no longer names is looked for among the fields of all others.
  expect(pausesOf(applySteps(write('m3', appliedBy(100), wide(0, 5))))).toBeGreaterThanOrEqual(400);
});

test('who owns what after an update can be found in steps', () => {
  const live = appliedBy(100);
  const object = { ...live, data: { ...(live.data as Values), k5: 'w' } };
  const work = recordUpdateSteps({ type: ConfigMap, apiVersion: 'v1', manager: 'm', now, live, object });
  expect(pausesOf(work)).toBeGreaterThanOrEqual(200);
});

test('lists of 20,000 items are applied with work that grows with their length', () => {
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
  expect(reads(20_000)).toBeLessThan(2.2 * reads(10_000));
});
