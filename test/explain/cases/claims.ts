/** Pods that wait for a claim. */
import { type Case, pod } from '../world.ts';
import { claim, event, usesClaim, volume } from './objects.ts';

export const claimCases: readonly Case[] = [
  {
    title: 'a claim that does not exist',
    make: (world) => world.put('pods', pod('web', usesClaim)),
    reason: 'ClaimMissing',
    message: /^The claim data does not exist.$/,
    command: /^get persistentvolumeclaims -n /,
  },
  {
    title: 'a claim whose storage class does not exist',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({ storageClassName: 'fast' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'StorageClassMissing',
    message: /^The storage class fast of the claim data does not exist.$/,
    command: /^get storageclasses$/,
  },
  {
    title: 'a claim that no volume fits',
    make: async (world) => {
      await world.put('persistentvolumes', volume(world.name('v'), '100Mi'));
      await world.put('persistentvolumeclaims', claim({ storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'NoVolumeFits',
    message: /^No available volume fits the claim data, and nothing provisions one.$/,
    command: /^get persistentvolumes$/,
  },
  {
    title: 'a claim that waits for its provisioner',
    make: async (world) => {
      await world.put('storageclasses', { metadata: { name: 'slow' }, provisioner: 'disks.example.com' });
      await world.put('persistentvolumeclaims', claim({ storageClassName: 'slow' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'WaitsForProvisioner',
    message: /^The claim data waits for the provisioner disks.example.com of the storage class slow.$/,
    command: /^describe persistentvolumeclaims\/data /,
  },
  {
    title: 'a claim that its provisioner could not serve, by the newest event',
    make: async (world) => {
      await world.put('storageclasses', { metadata: { name: 'slow' }, provisioner: 'disks.example.com' });
      const stored = await world.put('persistentvolumeclaims', claim({ storageClassName: 'slow' }));
      await event(world, stored, 'ProvisioningFailed', 'no space left');
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'ProvisioningFailed',
    message: /^The claim data gets no volume: no space left.$/,
    command: /./,
  },
  {
    title: 'a claim that is being deleted',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({}, { finalizers: ['kubernetes.io/pvc-protection'] }));
      await world.remove('persistentvolumeclaims', 'data');
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'ClaimDeleting',
    message: /^The claim data is being deleted.$/,
    command: /^why not deleted persistentvolumeclaims\/data -n /,
  },
  {
    title: 'a claim that names a volume that does not exist',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({ volumeName: 'gone', storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'VolumeMissing',
    message: /^The claim data names the volume gone, which does not exist.$/,
    command: /./,
  },
  {
    title: 'a claim that names a volume of another claim',
    make: async (world) => {
      const volumeName = world.name('v');
      await world.put('persistentvolumes', volume(volumeName, '1Gi', { claimRef: { namespace: world.ns, name: 'other' } }));
      await world.put('persistentvolumeclaims', claim({ volumeName, storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'VolumeTaken',
    message: /^The claim data names the volume \S+, which belongs to another claim.$/,
    command: /^describe persistentvolumes\//,
  },
  {
    title: 'a claim that is not bound to the volume that it names',
    make: async (world) => {
      const volumeName = world.name('v');
      await world.put('persistentvolumes', volume(volumeName, '1Gi'));
      await world.put('persistentvolumeclaims', claim({ volumeName, storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'WaitsForBinder',
    message: /^The claim data waits to be bound to the volume \S+.$/,
    command: /^describe persistentvolumes\//,
  },
  {
    title: 'a claim that a volume fits',
    make: async (world) => {
      await world.put('persistentvolumes', volume(world.name('v'), '2Gi'));
      await world.put('persistentvolumeclaims', claim({ storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'WaitsForBinder',
    message: /^The claim data waits to be bound to a volume.$/,
    command: /^describe persistentvolumeclaims\/data /,
  },
  {
    title: 'a claim whose volume is lost',
    make: async (world) => {
      await world.put('persistentvolumeclaims', { ...claim({ volumeName: 'gone', storageClassName: '' }), status: { phase: 'Lost' } });
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'VolumeLost',
    message: /^The volume gone of the claim data does not exist any more.$/,
    command: /^get persistentvolumes$/,
  },
];
