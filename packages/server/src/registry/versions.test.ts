import { builtinKinds } from '@plat-dev/kinds';
import type { ApiObject, Kind } from '@plat-dev/kinds/kind';
import { type ServedKind, serve } from '@plat-dev/kinds/served-kind';
import { kubernetes } from '@plat-dev/meta/identity';
import { type Item, itemFromStored } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import { RecentObjects } from './recent.ts';
import { Versions } from './versions.ts';

/** An autoscaler is stored in another version than most clients read it in. */
const autoscaler = builtinKinds(kubernetes).find(({ kind }) => kind === 'HorizontalPodAutoscaler') as Kind;
const versionsOf = (kind: Kind): Map<string, { served: ServedKind; versions: Versions }> =>
  new Map(serve(kind, kubernetes).map((served) => [served.version, { served, versions: new Versions(served, new RecentObjects()) }]));
const itemOf = (value: Buffer, revision = 7): Item =>
  itemFromStored('ns/a', value, revision, revision, { labels: undefined, fields: undefined });

const written = (apiVersion: string, spec: object): ApiObject =>
  ({ kind: 'HorizontalPodAutoscaler', apiVersion, metadata: { name: 'a', namespace: 'ns', uid: 'u' }, spec }) as ApiObject;
const target = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };

test('what is written in one version is read in another, through the hub', async () => {
  const all = versionsOf(autoscaler);
  const [v1, v2] = [all.get('v1'), all.get('v2')];
  if (v1 === undefined || v2 === undefined) throw new Error('both versions are served');
  const spec = { scaleTargetRef: target, maxReplicas: 5, targetCPUUtilizationPercentage: 70 };
  const hub = await v1.versions.accept(written('autoscaling/v1', spec));
  expect(hub.apiVersion).toBe(v1.served.hub.apiVersion);
  const item = itemOf(v1.versions.encode(hub));
  expect(await v1.versions.read(item)).toMatchObject({ apiVersion: 'autoscaling/v1', spec });
  expect(await v2.versions.read(item)).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }] },
  });
});

test('all ways to read an item give the same', async () => {
  for (const { versions } of versionsOf(autoscaler).values()) {
    const item = itemOf(versions.encode(written('autoscaling/v2', { scaleTargetRef: target, maxReplicas: 5 })));
    const read = versions.readNow(item);
    expect(await versions.read(item)).toEqual(read);
    expect(await versions.readAll([item, item])).toEqual([read, read]);
    expect(await versions.fromHub(versions.decodeNow(item))).toEqual(read);
    expect(await versions.decode(item)).toEqual(versions.decodeNow(item));
    expect([versions.byCalls, versions.isUnconverted(item)]).toEqual([false, false]);
  }
});

test('the stored text has no resourceVersion, and the object keeps all else', () => {
  const { versions } = versionsOf(autoscaler).get('v2') as { versions: Versions };
  const object = written('autoscaling/v2', { scaleTargetRef: target, maxReplicas: 5 });
  object.metadata.resourceVersion = '3';
  const item = itemOf(versions.encode(object), 9);
  expect(versions.decodeNow(item).metadata).toMatchObject({ name: 'a', uid: 'u', resourceVersion: '9' });
});

test('objects that one server wrote last are not seen by another', async () => {
  const [first, second] = [versionsOf(autoscaler), versionsOf(autoscaler)].map((all) => all.get('v2'));
  if (first === undefined || second === undefined) throw new Error('the version is served');
  const object = written('autoscaling/v2', { scaleTargetRef: target, maxReplicas: 5 });
  const [before, item] = [itemOf(first.versions.encode(object), 1), itemOf(first.versions.encode(object), 2)];
  first.versions.recent.keep(first.served, item, first.versions.decodeNow(item), before);
  expect(first.versions.recent.sharedObject(first.served, item)).toBeDefined();
  expect(second.versions.recent.sharedObject(second.served, item)).toBeUndefined();
  expect(await first.versions.decodeRecent(item)).toEqual(await second.versions.decodeRecent(item));
});
