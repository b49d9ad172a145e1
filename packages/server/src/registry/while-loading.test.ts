/** Requests for a kind whose objects are still being loaded are answered as they are when all are loaded (decision 042). */

import { FakeClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { ApiError } from '@plat-dev/meta/errors';
import { formatTime } from '@plat-dev/meta/time';
import type { Collection } from '@plat-dev/storage/collection';
import type { Engine, RangeRequest } from '@plat-dev/storage/engine';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { LOADED_AT_ONCE } from '@plat-dev/storage/loader';
import { beforeEach, describe, expect, test } from 'vitest';
import { lookUp } from './context.ts';
import { type Loose, NAMESPACE, openRegistry, type Registry } from './scenario.testing.ts';
import { select } from './select.ts';
import { SystemWriter } from './system.ts';
import { type WatchSink, watch } from './watch.ts';

const COUNT = LOADED_AT_ONCE + 100;
const named = (number: number): string => `m${String(number).padStart(4, '0')}`;

/** A store whose configmaps are not loaded before `release` is called. */
class Held {
  release: () => void = () => {};
  readonly engine: Engine;
  registry!: Registry;
  private readonly open = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  constructor(store: Engine) {
    this.engine = new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown;
        if (name === 'range')
          return async (request: RangeRequest) => {
            // Only a load reads all of them, without counting them.
            if (request.prefix === 'core/configmaps/' && request.uncounted) await this.open;
            return target.range(request);
          };
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
  get collection(): Collection {
    return this.registry.deps.catalog.builtin('', 'configmaps').collection as Collection;
  }
}

/** Both have the same objects, with the same uids. */
async function opened(): Promise<Held> {
  const store = openMemoryEngine({ clock: new FakeClock() });
  const first = await openRegistry(undefined, store);
  const objects = Array.from({ length: COUNT }, (_, i) => ({ metadata: { name: named(i), namespace: NAMESPACE }, data: { n: String(i) } }));
  await new SystemWriter(first.deps, 'first').ensureAll('', 'configmaps', objects, formatTime(first.clock.now()));
  first.deps.cache.close();
  const held = new Held(store);
  held.registry = await openRegistry(undefined, held.engine);
  return held;
}

let held: Held;
let registry: Registry;
beforeEach(async () => {
  held = await opened();
  registry = held.registry;
  expect(held.collection.pending).toBeDefined();
});

/** As the server does: the object is read before it is looked up. */
async function get(from: Registry, name: string): Promise<Loose> {
  const resource = from.deps.catalog.builtin('', 'configmaps');
  await lookUp({ resource, namespace: NAMESPACE, name });
  return from.get('configmaps', name);
}

/** Requests that name an object, or a page: what each was answered. */
async function script(on: Registry): Promise<Loose[]> {
  const answers: Loose[] = [];
  const run = async (request: Promise<Loose>): Promise<Loose> => {
    const answer = await request.catch((error: unknown) => {
      if (error instanceof ApiError) return { code: error.code, reason: error.reason, message: error.message };
      throw error;
    });
    answers.push(answer);
    return answer;
  };
  const body = (name: string, n: string, more: object = {}) => ({ metadata: { name, ...more }, data: { n } });
  const first = await run(get(on, named(7)));
  await run(get(on, 'absent'));
  await run(on.create('configmaps', body('new', '1')));
  await run(get(on, 'new'));
  await run(on.create('configmaps', body('new', '2')));
  await run(on.create('configmaps', body(named(8), '1')));
  await run(on.create('configmaps', body(named(8), '1'), { dryRun: true }));
  await run(on.create('configmaps', body('unborn', '1'), { dryRun: true }));
  await run(on.create('configmaps', { metadata: { generateName: 'made-' } }));
  await run(on.replace('configmaps', body(named(7), '2')));
  await run(on.replace('configmaps', body(named(7), '3', { resourceVersion: first.metadata.resourceVersion })));
  await run(on.replace('configmaps', body('absent', '1')));
  await run(get(on, named(7)));
  await run(on.remove('configmaps', named(9)));
  await run(on.remove('configmaps', named(9)));
  await run(get(on, named(9)));
  await run(on.create('configmaps', body(named(9), 'again')));
  await run(on.remove('configmaps', named(10), { preconditions: { uid: 'another' } }));
  await run(on.create('configmaps', body('held', '1', { finalizers: ['example.com/hold'] })));
  await run(on.remove('configmaps', 'held'));
  await run(on.create('configmaps', body('held', '2')));
  const page = await run(on.list('configmaps', { limit: 50 }));
  await run(on.create('configmaps', body(`${named(60)}-later`, '1')));
  const next = await run(on.list('configmaps', { limit: 50, continue: page.continue }));
  await run(on.list('configmaps', { limit: 500, continue: next.continue }));
  await run(on.list('configmaps', { limit: 20, resourceVersion: String(on.revision()), match: 'Exact' }));
  await run(on.list('configmaps', { limit: 20, resourceVersion: String(on.revision() + 10), match: 'Exact' }));
  return answers;
}

test('requests for single objects and pages are answered alike while objects are loaded and after', async () => {
  const other = await opened();
  other.release();
  await other.collection.pending?.();
  const before = await script(registry);
  expect(held.collection.pending).toBeDefined();
  const after = await script(other.registry);
  expect(before).toEqual(after);
  expect(before.filter((answer) => answer === undefined || answer.code !== undefined).length).toBeLessThan(before.length / 2);
  held.release();
  await held.collection.pending?.();
  expect(await registry.list('configmaps')).toEqual(await other.registry.list('configmaps'));
});

describe('a list that is not a page', () => {
  test.each([
    ['of everything', {}],
    ['of version 0', { resourceVersion: '0', limit: 10 }],
    ['with more than a page', { limit: 5_000 }],
  ])('%s waits, and has what was written meanwhile', async (_, options) => {
    let isDone = false;
    const listed = registry.list('configmaps', options).finally(() => {
      isDone = true;
    });
    await registry.create('configmaps', { metadata: { name: 'a' } });
    await registry.remove('configmaps', named(0));
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    expect(isDone).toBe(false);
    held.release();
    const { names } = await listed;
    expect(names).toEqual(['a', ...Array.from({ length: COUNT - 1 }, (_, i) => named(i + 1))]);
  });
});

test('a watch from before the load has every change since, in order', async () => {
  const from = registry.revision();
  const version = (object: Loose) => object.metadata.resourceVersion;
  await registry.create('configmaps', { metadata: { name: 'a' } });
  await registry.replace('configmaps', { metadata: { name: named(1) }, data: { n: 'changed' } });
  const loading = held.collection.pending?.();
  await registry.remove('configmaps', 'a');
  held.release();
  await registry.create('configmaps', { metadata: { name: 'b' } });
  await loading;
  const last = await registry.create('configmaps', { metadata: { name: 'c' } });
  const seen: string[] = [];
  const reached = new Promise<void>((resolve) => {
    const sink: WatchSink = {
      send: (type, item) => {
        seen.push(`${type} ${item.key.slice(NAMESPACE.length + 1)}`);
        if (String(item.revision) === version(last)) resolve();
      },
      full: () => false,
      drained: async () => {},
      initialSent() {},
      current() {},
      fail(error) {
        throw error;
      },
      waitingLimit: 2 ** 20,
    };
    const resource = registry.deps.catalog.builtin('', 'configmaps');
    void watch(registry.deps, resource, select(resource, NAMESPACE), { resourceVersion: String(from), initialEvents: undefined }, sink);
  });
  await reached;
  expect(seen).toEqual(['ADDED a', `MODIFIED ${named(1)}`, 'DELETED a', 'ADDED b', 'ADDED c']);
});

test("the server's own writes read their object alone", async () => {
  const writer = new SystemWriter(registry.deps, 'system');
  expect(await writer.ensure('', 'configmaps', { metadata: { name: named(3), namespace: NAMESPACE } })).toBe(false);
  expect(await writer.ensure('', 'configmaps', { metadata: { name: 'own', namespace: NAMESPACE } })).toBe(true);
  const several = [named(3), 'own2'].map((name) => ({ metadata: { name, namespace: NAMESPACE } }));
  expect(await writer.ensureAll('', 'configmaps', several, formatTime(registry.clock.now()))).toBe(1);
  await writer.change('', 'configmaps', NAMESPACE, named(4), (object) => {
    object.metadata.labels = { by: 'system' };
  });
  await writer.remove('', 'configmaps', NAMESPACE, named(5));
  expect(held.collection.pending).toBeDefined();
  held.release();
  await held.collection.pending?.();
  expect([registry.get('configmaps', 'own')?.metadata.name, registry.get('configmaps', named(4)).metadata.labels]).toEqual([
    'own',
    { by: 'system' },
  ]);
  expect(registry.get('configmaps', named(5))).toBeUndefined();
});
