import type { ApiObject } from '@plat-dev/kinds/kind';
import { kubernetes } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { Operation } from '@plat-dev/storage/engine';
import { expect, test } from 'vitest';
import { bootstrap } from './bootstrap/run.ts';
import type { RegistryDeps } from './context.ts';
import { PLACEHOLDER_TIME, PLACEHOLDER_UID } from './prepared.ts';
import { openRegistry, type Registry } from './scenario.testing.ts';
import { SystemWriter } from './system.ts';
import { parseItem } from './versions.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

interface Written {
  readonly registry: Registry;
  readonly created: number;
  /** Stored objects by key, without their resource versions. */
  readonly objects: Map<string, ApiObject>;
}

/** Writes the first objects of a server to an empty store. */
async function firstObjects(now: number, changes: Partial<RegistryDeps> = {}, together = true): Promise<Written> {
  const registry = await openRegistry();
  const env = { ...registry.deps.env, now: () => now };
  const writer = new SystemWriter({ ...registry.deps, env, ...changes }, 'test', 'system.test.ts');
  if (!together)
    writer.ensureAll = async (group, plural, objects) => {
      let created = 0;
      for (const object of objects) if (await writer.ensure(group, plural, object)) created++;
      return created;
    };
  const { catalog } = registry.deps;
  const created = await bootstrap(writer, catalog, kubernetes, now, { trust: { clientCA: 'none' }, serviceRanges: ['10.0.0.0/24'] });
  return { registry, created, objects: stored(registry) };
}

function stored({ deps: { catalog } }: Registry): Map<string, ApiObject> {
  const objects = new Map<string, ApiObject>();
  for (const { resources } of catalog.all()) {
    const collection = resources[0]?.collection;
    for (const item of collection?.items.all() ?? []) {
      const { resourceVersion, ...metadata } = parseItem(item).metadata;
      expect(resourceVersion).toBe(String(item.revision));
      objects.set(`${collection?.prefix}${item.key}`, { ...parseItem(item), metadata });
    }
  }
  return objects;
}

test('objects that are created together are those that are created one by one', async () => {
  const newUid = (): string => '11111111-2222-4333-8444-555555555555';
  const oneByOne = await firstObjects(NOW, { newUid }, false);
  for (const together of [await firstObjects(NOW, { newUid }), await firstObjects(NOW, { newUid })]) {
    expect(together.created).toBe(oneByOne.created);
    expect(together.objects.size).toBeGreaterThan(150);
    expect(together.objects).toEqual(oneByOne.objects);
    // The text has fields in the same order, and labels and fields of selectors are those that a server reads from it.
    for (const key of ['core/namespaces/default', 'rbac.authorization/clusterroles/view', 'flowcontrol.apiserver/flowschemas/exempt'])
      expect(JSON.stringify(together.objects.get(key)), key).toBe(JSON.stringify(oneByOne.objects.get(key)));
    const { collection } = together.registry.deps.catalog.builtin('', 'namespaces');
    const item = collection?.items.get('default');
    expect([item?.labels, item?.fields]).toEqual([
      { 'kubernetes.io/metadata.name': 'default' },
      collection?.factsOf(item && parseItem(item)).fields,
    ]);
  }
});

test('servers that start later have uids and times of their own', async () => {
  const first = await firstObjects(NOW);
  let serial = 0;
  const uuid = (): string => `22222222-2222-4222-8222-${String(serial++).padStart(12, '0')}`;
  const later = await firstObjects(NOW + 86_400_000, { newUid: uuid });
  const text = JSON.stringify([...later.objects]);
  expect(text).not.toContain(PLACEHOLDER_UID);
  expect(text).not.toContain(PLACEHOLDER_TIME);
  expect(text).not.toContain(formatTime(NOW));
  expect(new Set([...later.objects.values()].map(({ metadata }) => metadata.uid)).size).toBe(later.objects.size);
  expect(later.objects.get('core/namespaces/default')?.metadata).toMatchObject({
    creationTimestamp: '2026-01-03T03:04:05Z',
    managedFields: [{ time: '2026-01-03T03:04:05Z' }],
  });
  expect(later.objects.get('flowcontrol.apiserver/flowschemas/exempt')).toMatchObject({
    status: { conditions: [{ lastTransitionTime: '2026-01-03T03:04:05Z' }] },
  });
  expect(first.objects.get('core/namespaces/default')?.metadata.creationTimestamp).toBe(formatTime(NOW));
});

test('uids and times of unusual length', async () => {
  const now = Date.UTC(12_026, 0, 2);
  let serial = 0;
  const { objects } = await firstObjects(now, { newUid: () => `uid-${serial++}` });
  expect(objects.get('core/namespaces/default')?.metadata).toMatchObject({
    uid: expect.stringMatching(/^uid-\d+$/),
    creationTimestamp: formatTime(now),
  });
});

const maps = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ metadata: { name: `m${i}`, namespace: 'default' }, data: { a: '1' } }));

test('one commit has at most as many objects as etcd takes operations', async () => {
  const { deps } = await openRegistry();
  const sizes: number[] = [];
  const cache: RegistryDeps['cache'] = Object.create(deps.cache);
  cache.commit = (operations: readonly Operation[], facts) => {
    sizes.push(operations.length);
    return deps.cache.commit(operations, facts);
  };
  const writer = new SystemWriter({ ...deps, cache }, 'test');
  expect(await writer.ensureAll('', 'configmaps', maps(250), formatTime(NOW))).toBe(250);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([50, 100, 100]);
  // Nothing is written where nothing is missing.
  expect(await writer.ensureAll('', 'configmaps', maps(250), formatTime(NOW))).toBe(0);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([50, 100, 100]);
});

test('what another server creates at the same time is left as it is', async () => {
  const { deps } = await openRegistry();
  const other = new SystemWriter(deps, 'other');
  const cache: RegistryDeps['cache'] = Object.create(deps.cache);
  cache.commit = async (operations: readonly Operation[], facts) => {
    await other.ensureAll('', 'configmaps', maps(2).slice(1), formatTime(NOW));
    return deps.cache.commit(operations, facts);
  };
  const writer = new SystemWriter({ ...deps, cache }, 'test');
  expect(await writer.ensureAll('', 'configmaps', maps(3), formatTime(NOW))).toBe(2);
  const managerOf = (name: string) => writer.read('', 'configmaps', 'default', name)?.metadata.managedFields?.[0]?.manager;
  expect(['m0', 'm1', 'm2'].map(managerOf)).toEqual(['test', 'other', 'test']);
});
