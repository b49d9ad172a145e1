import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import { limitRanger } from './limit-ranger.ts';

const ctr = (resources: object = {}, name = 'c') => ({ name, resources });

async function start(...limits: object[]) {
  const world = new World().with('limitranges', { metadata: { name: 'l', namespace: 'ns' }, spec: { limits } });
  const plugin = await world.plugin(limitRanger);
  const pod = (spec: object) => refusalOf(plugin, world.request('pods', podOf(spec)));
  return { world, plugin, pod };
}

test('containers that say nothing get the defaults, and the pod says so', async () => {
  const { world, plugin } = await start({ type: 'Container', default: { cpu: '200m' }, defaultRequest: { cpu: '50m', memory: '8Mi' } });
  const request = world.request('pods', podOf({ containers: [ctr(), ctr({ limits: { cpu: '1' } }, 'd')] }));
  expect(await refusalOf(plugin, request)).toBeUndefined();
  const { spec, metadata } = request.object as unknown as Pod;
  expect(spec.containers?.map(({ resources }) => resources)).toEqual([
    { limits: { cpu: '200m' }, requests: { cpu: '50m', memory: '8Mi' } },
    { limits: { cpu: '1' }, requests: { cpu: '1', memory: '8Mi' } },
  ]);
  expect(metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
    'LimitRanger plugin set: cpu, memory request for container c; cpu limit for container c; memory request for container d',
  );
});

test.each([
  [
    'a request below the minimum',
    { requests: { cpu: '50m' }, limits: { cpu: '1' } },
    'minimum cpu usage per Container is 100m, but request is 50m',
  ],
  ['a limit above the maximum', { limits: { cpu: '3' }, requests: { cpu: '1' } }, 'maximum cpu usage per Container is 2, but limit is 3'],
  ['no limit at all', { requests: { cpu: '1' } }, 'maximum cpu usage per Container is 2.  No limit is specified'],
  [
    'both at once',
    { limits: { cpu: '9' }, requests: { cpu: '1m' } },
    '[minimum cpu usage per Container is 100m, but request is 1m, maximum cpu usage per Container is 2, but limit is 9]',
  ],
])('%s is refused', async (_what, resources, why) => {
  const world = new World();
  // Without defaults, which would fill the gaps: the range is put as it is.
  world.view('', 'limitranges').put({
    metadata: { name: 'l', namespace: 'ns' },
    spec: { limits: [{ type: 'Container', min: { cpu: '100m' }, max: { cpu: '2' } }] },
  } as never);
  const plugin = await world.plugin(limitRanger);
  expect(await refusalOf(plugin, world.request('pods', podOf({ containers: [ctr(resources)] })))).toBe(`pods "p" is forbidden: ${why}`);
});

test('the ratio of limit to request is bounded', async () => {
  const { pod } = await start({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } });
  expect(await pod({ containers: [ctr({ limits: { cpu: '1' }, requests: { cpu: '250m' } })] })).toMatch(/provided ratio is 4.000000/);
  expect(await pod({ containers: [ctr({ limits: { cpu: '1' }, requests: { cpu: '500m' } })] })).toBeUndefined();
  expect(await pod({ containers: [ctr()] })).toMatch(/no request is specified or request is 0/);
});

test('a pod is measured as a whole: the sum of its containers, or its neediest init container', async () => {
  const { pod } = await start({ type: 'Pod', max: { memory: '1Gi' } });
  const half = ctr({ limits: { memory: '700Mi' } });
  expect(await pod({ containers: [half] })).toBeUndefined();
  expect(await pod({ containers: [half, { ...half, name: 'd' }] })).toMatch(/maximum memory usage per Pod is 1Gi, but limit is 1468006400/);
  expect(await pod({ containers: [half], initContainers: [ctr({ limits: { memory: '2Gi' } }, 'i')] })).toMatch(/but limit is 2Gi/);
  // Where one container says nothing, nothing is known of the whole.
  expect(await pod({ containers: [half, ctr({}, 'd')] })).toMatch(/No limit is specified/);
});

test('claims are bounded by their own type', async () => {
  const { world, plugin } = await start({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } });
  const claim = (storage: string) =>
    refusalOf(
      plugin,
      world.request('persistentvolumeclaims', { metadata: { name: 'c', namespace: 'ns' }, spec: { resources: { requests: { storage } } } }),
    );
  expect(await claim('2Gi')).toBeUndefined();
  expect(await claim('500Mi')).toMatch(/minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi/);
  expect(await claim('6Gi')).toMatch(/maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi/);
});

test('an update of a pod is not measured again', async () => {
  const { world, plugin } = await start({ type: 'Container', max: { cpu: '1m' } });
  const request = world.request('pods', podOf({ containers: [ctr({ limits: { cpu: '4' } })] }), { old: podOf() });
  expect(await refusalOf(plugin, request)).toBeUndefined();
});
