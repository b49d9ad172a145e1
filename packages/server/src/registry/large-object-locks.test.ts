import type { ApiObject } from '@plat-dev/kinds/kind';
import { Slices } from '@plat-dev/lib/slices';
import type { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import type { RegistryDeps, WriteContext } from './context.ts';
import { MAX_WAITING_WRITES } from './large-object-locks.ts';
import { remove } from './remove.ts';
import { NAMESPACE, openRegistry, refusal } from './scenario.testing.ts';
import { update } from './update.ts';

const large = { metadata: { name: 'a', annotations: { a: 'x'.repeat(100_000) } } };

async function setUp() {
  const { deps, ...registry } = await openRegistry();
  await registry.create('configmaps', large);
  const write: WriteContext = {
    resource: deps.catalog.builtin('', 'configmaps'),
    namespace: NAMESPACE,
    name: 'a',
    subresource: '',
    user: { name: 'alice', groups: [] },
    dryRun: false,
    manager: 'script',
    options: {},
    request: { slices: () => new Slices() },
    warn() {},
    annotate() {},
  };
  let tries = 0;
  const setKey = (key: string, through: RegistryDeps = deps) =>
    update(through, write, {
      change: async (live) => {
        tries++;
        const { data = {} } = live as ApiObject & { data?: Record<string, string> };
        return { ...structuredClone(live), data: { ...data, [key]: 'v' } } as ApiObject;
      },
    });
  return { ...registry, deps, write, setKey, tries: () => tries };
}

test('fifty changes of a large object at once are made one after the other: none is made in vain', async () => {
  const { setKey, tries, get } = await setUp();
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  await Promise.all(keys.map((key) => setKey(key)));
  expect(tries()).toBe(50);
  expect(Object.keys(get('configmaps', 'a').data).sort()).toEqual([...keys].sort());
});

test('a deletion waits for the changes before it', async () => {
  const { deps, write, setKey, tries, get } = await setUp();
  const changed = Promise.all([setKey('a'), setKey('b')]);
  await remove(deps, write, {});
  await changed;
  expect(tries()).toBe(2);
  expect(get('configmaps', 'a')).toBeUndefined();
});

test('a webhook can write the object while the request that called it waits for its answer', async () => {
  const { deps, setKey, get } = await setUp();
  let called = false;
  const webhook: RegistryDeps['admission'] = {
    admit: () => {
      if (called) return;
      called = true;
      return setKey('webhook').then(() => {});
    },
    validate() {},
  };
  await setKey('request', { ...deps, admission: webhook });
  expect(Object.keys(get('configmaps', 'a').data).sort()).toEqual(['request', 'webhook']);
});

test('a thousand requests may wait for a large object; one more is refused, and those that wait go on', async () => {
  const { deps, write, setKey, get } = await setUp();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = update(deps, write, {
    change: async (live) => {
      await held;
      return { ...structuredClone(live), data: { first: 'v' } } as ApiObject;
    },
  });
  const removeOther = (): Promise<unknown> => refusal(remove(deps, write, { preconditions: { uid: 'another' } }));
  const waiting = Array.from({ length: MAX_WAITING_WRITES }, removeOther);
  expect(await removeOther()).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } });
  release();
  await first;
  expect((await Promise.all(waiting)).filter((error) => (error as ApiError).code !== 409)).toEqual([]);
  await setKey('last');
  expect(get('configmaps', 'a').data).toEqual({ first: 'v', last: 'v' });
});
