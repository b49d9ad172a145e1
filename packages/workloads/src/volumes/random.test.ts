/** Whatever claims and volumes come and go: a volume has one claim, and a claim that could have a volume has one. */

import { FakeApi, type Loose, runControllers } from '@plat-dev/controllers/testing';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { volumeBinder } from './binder.ts';
import { simulatedProvisioner } from './provisioner.ts';

const claimKind = { group: '', version: 'v1', name: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true };
const volumeKind = { group: '', version: 'v1', name: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false };
const classKind = { group: 'storage.k8s.io', version: 'v1', name: 'storageclasses', kind: 'StorageClass', namespaced: false };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };
const RUNS = 8;
const STEPS = 30;

function act(api: FakeApi, random: Random): Promise<void> | undefined {
  const name = `x${random.below(6)}`;
  const storage = `${1 + random.below(3)}Gi`;
  const storageClassName = ['', 'made'][random.below(2)];
  const accessModes = ['ReadWriteOnce'];
  switch (random.below(4)) {
    case 0:
      if (api.get(claimKind, 'a', name) === undefined)
        api.put(claimKind, {
          metadata: { name, namespace: 'a' },
          spec: { accessModes, storageClassName, resources: { requests: { storage } } },
          status: {},
        });
      return undefined;
    case 1: {
      if (api.get(volumeKind, '', name) !== undefined) return undefined;
      const persistentVolumeReclaimPolicy = ['Retain', 'Delete'][random.below(2)];
      api.put(volumeKind, {
        metadata: { name },
        spec: { accessModes, storageClassName, capacity: { storage }, persistentVolumeReclaimPolicy },
        status: {},
      });
      return undefined;
    }
    case 2:
      return api.get(claimKind, 'a', name) === undefined ? undefined : api.remove(claimKind, 'a', name);
    default:
      return api.get(volumeKind, '', name)?.status.phase === 'Bound' || api.get(volumeKind, '', name) === undefined
        ? undefined
        : api.remove(volumeKind, '', name);
  }
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const api = new FakeApi([claimKind, volumeKind, classKind, eventKind]);
  api.put(classKind, { metadata: { name: 'made' }, provisioner: 'x.example.com', reclaimPolicy: 'Delete' });
  const run = runControllers(api, [volumeBinder({ deletesAny: true }), simulatedProvisioner({ any: true, defaultClass: false })]);
  for (let step = 0; step < STEPS; step++) {
    await act(api, random);
    if (random.below(2) === 0) await run.pass(random.below(1000));
  }
  await run.pass(60_000);
  await run.pass(60_000);
  const claims: Loose[] = api.all(claimKind);
  const volumes: Loose[] = api.all(volumeKind);
  const bound = claims.filter(({ status }) => status.phase === 'Bound');
  expect(new Set(bound.map(({ spec }) => spec.volumeName)).size).toBe(bound.length);
  for (const { metadata, spec } of bound) {
    const volume = api.get(volumeKind, '', spec.volumeName);
    expect([volume?.status.phase, volume?.spec.claimRef.uid]).toEqual(['Bound', metadata.uid]);
  }
  expect(volumes.filter(({ status }) => status.phase === 'Bound')).toHaveLength(bound.length);
  const size = (text: string): number => Number.parseInt(text, 10);
  const free = volumes.filter(({ status, spec }) => status.phase === 'Available' && spec.storageClassName === '');
  for (const { spec, status } of claims.filter((claim) => !bound.includes(claim) && claim.status.phase !== 'Lost')) {
    expect([status.phase, spec.storageClassName]).toEqual(['Pending', '']);
    expect(free.filter((volume) => size(volume.spec.capacity.storage) >= size(spec.resources.requests.storage))).toEqual([]);
  }
  // Volumes that were made for a claim are gone with it.
  for (const { metadata, spec } of volumes.filter((volume) => volume.metadata.name.startsWith('pvc-')))
    expect(
      bound.map((claim) => claim.metadata.uid),
      metadata.name,
    ).toContain(spec.claimRef.uid);
  await run.stop();
}

test(`random claims and volumes, seed ${testSeed}`, async () => {
  for (let i = 0; i < RUNS; i++) await play(testSeed + i);
});
