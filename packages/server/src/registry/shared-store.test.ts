/**
 * Updates by several servers on one store: the cache of one lags behind until it asks for the newest revision, and updates do so only
 * where it matters.
 */

import { FakeClock } from '@plat-dev/lib/clock';
import type { ChangeRecord, Engine, Operation, Subscriber } from '@plat-dev/storage/engine';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { beforeEach, expect, test } from 'vitest';
import { openRegistry, type Registry, refusal } from './scenario.testing.ts';

/** One of several servers on a store: changes of others reach it when it asks, its own with their answer. */
class SharedEngine {
  questions = 0;
  #waiting: [readonly ChangeRecord[], number][] = [];
  #deliver: Subscriber = () => {};
  readonly engine: Engine;

  constructor(store: Engine) {
    const release = (): void => {
      for (const [changes, revision] of this.#waiting.splice(0)) this.#deliver(changes, revision);
    };
    this.engine = new Proxy(store, {
      get: (target, name) => {
        if (name === 'exclusive') return false;
        if (name === 'currentRevision')
          return async () => {
            this.questions++;
            release();
            return target.revision;
          };
        if (name === 'subscribe')
          return (after: number, deliver: Subscriber, failed: (error: Error) => void) => {
            this.#deliver = deliver;
            return target.subscribe(after, (changes, revision) => void this.#waiting.push([changes, revision]), failed);
          };
        if (name === 'commit')
          return async (operations: readonly Operation[]) => {
            const done = await target.commit(operations);
            release();
            return done;
          };
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

let mine: SharedEngine;
let here: Registry;
let there: Registry;
beforeEach(async () => {
  const store = openMemoryEngine({ clock: new FakeClock() });
  mine = new SharedEngine(store);
  here = await openRegistry(undefined, mine.engine);
  there = await openRegistry(undefined, new SharedEngine(store).engine);
  await here.create('configmaps', { metadata: { name: 'a' }, data: { n: '1' } });
  mine.questions = 0;
});

const body = (n: string, resourceVersion?: string) => ({
  metadata: { name: 'a', ...(resourceVersion !== undefined && { resourceVersion }) },
  data: { n },
});

test('an update of what no other server has written asks nothing', async () => {
  const first = await here.replace('configmaps', body('2'));
  await here.replace('configmaps', body('3', first.metadata.resourceVersion));
  expect([mine.questions, here.get('configmaps', 'a').data]).toEqual([0, { n: '3' }]);
});

test('an update of an object that another server has changed is made on its newest state', async () => {
  const other = await there.replace('configmaps', { ...body('2'), metadata: { name: 'a', labels: { by: 'other' } } });
  expect(here.get('configmaps', 'a').data).toEqual({ n: '1' });
  const made = await here.replace('configmaps', body('3'));
  expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(Number(other.metadata.resourceVersion));
  expect(there.deps.cache.engine.revision).toBe(Number(made.metadata.resourceVersion));
});

test('a version that another server has made is accepted, the one before is refused', async () => {
  const old = here.get('configmaps', 'a').metadata.resourceVersion;
  const other = await there.replace('configmaps', body('2'));
  expect(await refusal(here.replace('configmaps', body('3', old)))).toMatchObject({ code: 409, reason: 'Conflict' });
  const next = await there.replace('configmaps', body('4', other.metadata.resourceVersion));
  expect((await here.replace('configmaps', body('5', next.metadata.resourceVersion))).data).toEqual({ n: '5' });
});

test('an object that another server has created is found, one that it has deleted is not', async () => {
  await there.create('configmaps', { metadata: { name: 'b' } });
  expect((await here.replace('configmaps', { metadata: { name: 'b' }, data: { x: 'y' } })).data).toEqual({ x: 'y' });
  await there.remove('configmaps', 'a');
  expect(await refusal(here.replace('configmaps', body('2')))).toMatchObject({ code: 404 });
});

test('an update that changes nothing here is written if another server has changed the object', async () => {
  await there.replace('configmaps', body('2'));
  await here.replace('configmaps', body('1'));
  expect(here.get('configmaps', 'a').data).toEqual({ n: '1' });
  const { revision } = mine.engine;
  mine.questions = 0;
  await here.replace('configmaps', body('1'));
  expect([mine.engine.revision, mine.questions]).toEqual([revision, 1]);
});

test('a dry run asks first', async () => {
  await there.replace('configmaps', { ...body('2'), metadata: { name: 'a', labels: { by: 'other' } } });
  const tried = await here.replace('configmaps', body('3'), { dryRun: true });
  expect(tried.metadata.resourceVersion).toBe(String(mine.engine.revision));
  expect(mine.questions).toBe(1);
});
