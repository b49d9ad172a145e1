/** A large object in every form: in slices, and the same bytes as at once. */

import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import type { KindEnv } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { RequestEnded, SLICE_MILLIS, Slices } from '@plat-dev/lib/slices';
import { encode } from '@plat-dev/schema/json';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Resource } from '../registry/catalog.ts';
import { RecentObjects } from '../registry/recent.ts';
import { Versions } from '../registry/versions.ts';
import type { Representation } from '../request/negotiate.ts';
import { representItem } from './represent.ts';

const served = {
  apiVersion: 'v1',
  kind: { kind: 'ConfigMap', plural: 'configmaps', listKind: 'ConfigMapList', namespaced: true },
  hub: { later: false, schema: ConfigMap, apiVersion: 'v1' },
  schema: ConfigMap,
  definition: {},
  isHub: true,
  custom: false,
} as unknown as ServedKind;
const resource = { ...served, versions: new Versions(served, new RecentObjects()) } as Resource;
const env = { now: () => 0 } as unknown as KindEnv;
const text = encode(ConfigMap, {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'large', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '2024-01-01T00:00:00Z' },
  data: { ...Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`k${i}`, `value ${i}`])), text: '"\t'.repeat(100_000) },
} as never);
const newItem = (): Item => ({ key: 'n/large', revision: 7, bytes: Buffer.from(text) }) as unknown as Item;
/** A clock on which some looks take as long as a slice may. */
const hurried = (): { monotonic(): number } => {
  let now = 0;
  return { monotonic: () => (now += SLICE_MILLIS / 3) };
};

const forms: [string, Partial<Representation>, boolean, number][] = [
  ['YAML', { media: 'yaml' }, false, 20],
  ['pretty', { media: 'json' }, true, 2],
  ['binary', { media: 'protobuf' }, false, 2],
  ['Table', { media: 'json', transform: 'Table' as never, transformVersion: 'meta/v1' }, false, 2],
  ['YAML Table', { media: 'yaml', transform: 'Table' as never, transformVersion: 'meta/v1' }, false, 20],
];
const represent = (r: Partial<Representation>, pretty: boolean, slices?: Slices): Promise<Buffer> => {
  const representation = { type: 'x/y', transform: undefined, transformVersion: '', pretty: false, ...r } as Representation;
  return representItem(env, resource, newItem(), representation, pretty, 'Object', slices);
};

test.each(forms)('%s', async (_, r, pretty, least) => {
  const whole = await represent(r, pretty);
  let pauses = 0;
  const slices = new Slices(() => {
    pauses++;
    return false;
  }, hurried());
  expect((await represent(r, pretty, slices)).equals(whole)).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(least);
});

test('the work ends with its request', async () => {
  let pauses = 0;
  const slices = new Slices(() => ++pauses > 5, hurried());
  await expect(represent({ media: 'yaml' }, false, slices)).rejects.toBeInstanceOf(RequestEnded);
  expect(pauses).toBe(6);
});
