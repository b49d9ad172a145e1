/** Watches that begin with the objects that exist, and say where these end. */
import type { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { NAMESPACE, openRegistry, type Registry } from './scenario.testing.ts';
import { select } from './select.ts';
import { type WatchSink, type WatchStart, watch } from './watch.ts';

/** Events in the order in which a watch sends them; `end@9` where the objects of the beginning end. */
async function following(registry: Registry, start: Partial<WatchStart>, isFull: () => boolean = () => false): Promise<string[]> {
  const seen: string[] = [];
  const sink: WatchSink = {
    send: (type, item) => void seen.push(`${type} ${item.key.slice(NAMESPACE.length + 1)}`),
    full: isFull,
    drained: async () => {},
    initialSent: (revision) => void seen.push(`end@${revision}`),
    current: () => void seen.push('current'),
    fail: (error: ApiError) => void seen.push(`error ${error.code}`),
    waitingLimit: 2 ** 20,
  };
  const resource = registry.deps.catalog.builtin('', 'configmaps');
  await watch(registry.deps, resource, select(resource, NAMESPACE), { resourceVersion: '', initialEvents: undefined, ...start }, sink);
  return seen;
}
const named = (name: string) => ({ metadata: { name } });

test('the objects come first, then their end in the state of the store, then changes', async () => {
  const registry = await openRegistry();
  await registry.create('configmaps', named('a'));
  await registry.create('configmaps', named('b'));
  const end = `end@${registry.revision()}`;
  for (const resourceVersion of ['', '0', '1', String(registry.revision())]) {
    const seen = await following(registry, { resourceVersion, initialEvents: true });
    expect(seen, resourceVersion).toEqual(['ADDED a', 'ADDED b', end, 'current']);
  }
  const seen = await following(registry, { initialEvents: true });
  await registry.create('configmaps', named('c'));
  expect(seen.slice(2)).toEqual([end, 'current', 'ADDED c']);
});

test('changes that come while the objects are sent come after their end', async () => {
  const registry = await openRegistry();
  await registry.create('configmaps', named('a'));
  await registry.create('configmaps', named('b'));
  const end = `end@${registry.revision()}`;
  let isFull = true;
  const seen = await following(registry, { initialEvents: true }, () => isFull);
  await registry.create('configmaps', named('c'));
  isFull = false;
  await expect.poll(() => seen).toEqual(['ADDED a', 'ADDED b', end, 'ADDED c', 'current']);
});

test('without initial events only changes come, whatever the version', async () => {
  const registry = await openRegistry();
  const first = await registry.create('configmaps', named('a'));
  await registry.create('configmaps', named('b'));
  expect(await following(registry, { initialEvents: false })).toEqual(['current']);
  expect(await following(registry, { resourceVersion: '0', initialEvents: false })).toEqual(['current']);
  const resourceVersion = first.metadata.resourceVersion;
  expect(await following(registry, { resourceVersion, initialEvents: false })).toEqual(['ADDED b', 'current']);
});
