/** A large kept version is parsed in slices. */
import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { SLICE_MILLIS, Slices } from '@plat-dev/lib/slices';
import { encodeBytes } from '@plat-dev/schema/json';
import type { KeptVersion } from '@plat-dev/storage/history';
import { HEADER, withHeader } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Resource } from '../registry/catalog.ts';
import { RecentObjects } from '../registry/recent.ts';
import { Versions } from '../registry/versions.ts';
import { documentsOf } from './document.ts';

const served = {
  apiVersion: 'v1',
  group: '',
  kind: { kind: 'ConfigMap', plural: 'configmaps', listKind: 'ConfigMapList', group: '', namespaced: true },
  hub: { later: false, schema: ConfigMap, apiVersion: 'v1' },
  schema: ConfigMap,
  definition: {},
  isHub: true,
  custom: false,
} as unknown as ServedKind;

const keptVersion = (data: Record<string, string>): KeptVersion => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'n', uid: 'u' }, data };
  const value = withHeader(encodeBytes(ConfigMap, object as never, HEADER), 'u');
  return { key: 'core/configmaps/n/a', value, revision: 7, created: 7, type: 'put', time: 0 } as unknown as KeptVersion;
};
/** `isHub`: the stored text is what is shown; else it is decoded into the version of the path. */
async function pausesFor(data: Record<string, string>, isHub: boolean): Promise<number> {
  const resource = { ...served, isHub, versions: new Versions(served, new RecentObjects()) } as Resource;
  let now = 0;
  let pauses = 0;
  const slices = new Slices(
    () => {
      pauses++;
      return false;
    },
    { monotonic: () => (now += SLICE_MILLIS) },
  );
  const [document] = await documentsOf(undefined, resource, [keptVersion(data)], false, slices, { left: 0 });
  expect(document).toMatchObject({ object: { metadata: { name: 'a' }, data } });
  return pauses;
}
const large = Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`k${i}`, `value ${i}`]));

test.each([
  ['in the stored version', true],
  ['in another version', false],
])('%s: a large one in many slices, a small one at once', async (_, isHub) => {
  expect(await pausesFor(large, isHub)).toBeGreaterThan(5);
  expect(await pausesFor({ a: '1' }, isHub)).toBe(0);
});
