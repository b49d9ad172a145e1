/**
 * A simulated provisioner: makes volumes for claims, deletes those that are released, and grows those whose claims ask for more.
 * There is no storage behind them.
 */

import { isConflict, unlessGoneOrReplaced } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { amount } from '@plat-dev/kinds/validation/resources';
import { own } from '@plat-dev/lib/own';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import { EventRecorder } from '../shared/events.ts';
import { workloadRefs } from '../shared/refs.ts';
import {
  aboutClaim,
  type Claim,
  type StorageClass,
  type Volume,
  type VolumeIndex,
  type VolumeNames,
  volumeIndex,
  volumeNames,
} from './volume-objects.ts';

export interface ProvisionerSettings {
  /** Every class is simulated, and not only those that name the simulated provisioner. */
  readonly any: boolean;
  /** A server without any class gets one that is the default. */
  readonly defaultClass: boolean;
}

const WORKERS = 8;
const VOLUME = 'volume:';
/** The key of the work on the default class; no claim has it. */
const CLASS = 'class:';
const DEFAULT_CLASS = 'standard';

export const simulatedProvisioner = (settings: ProvisionerSettings): Controller => ({
  name: 'simulated-volumes',
  user: 'nodes',
  start(context) {
    const { informers, queue, identity } = context;
    const index = volumeIndex(informers, identity);
    const run = new ProvisionerRun(context, index, volumeNames(identity), settings);
    const work = queue(
      (key) => {
        if (key === CLASS) return run.ensureClass();
        return key.startsWith(VOLUME) ? run.collect(key.slice(VOLUME.length)) : run.serve(key);
      },
      { after: index.synced, workers: WORKERS },
    );
    if (settings.defaultClass) work.add(CLASS);
    index.claims.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.metadata.deletionTimestamp === undefined) work.add(keyOf(object));
    });
    index.volumes.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.status?.phase === 'Released') work.add(`${VOLUME}${object.metadata.name ?? ''}`);
    });
  },
});

class ProvisionerRun {
  private readonly context: ControllerContext;
  private readonly index: VolumeIndex;
  private readonly names: VolumeNames;
  private readonly settings: ProvisionerSettings;
  private readonly recorder: EventRecorder;

  constructor(context: ControllerContext, index: VolumeIndex, names: VolumeNames, settings: ProvisionerSettings) {
    this.context = context;
    this.index = index;
    this.names = names;
    this.settings = settings;
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'simulated-volumes' });
  }
  private isSimulated(provisioner: string | undefined): boolean {
    return provisioner === this.names.simulated || (this.settings.any && provisioner !== this.names.noProvisioner);
  }

  async ensureClass(): Promise<undefined> {
    if (this.index.classes.size > 0) return;
    const { client, identity } = this.context;
    const storageClass = {
      metadata: { name: DEFAULT_CLASS, annotations: { [this.names.defaultClass]: 'true' } },
      provisioner: this.names.simulated,
      allowVolumeExpansion: true,
    };
    try {
      await client.create(workloadRefs(identity).storageClasses, '', storageClass);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  /** Makes the volume of a claim, or grows it. */
  async serve(key: string): Promise<undefined> {
    const { namespace, name } = splitKey(key);
    const claim = this.index.claims.get(namespace, name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    if ((claim.spec?.volumeName ?? '') !== '') return this.grow(claim);
    const provisioner = own(claim.metadata.annotations, this.names.provisioners[0] ?? '');
    const storageClass = this.index.objects.classOf(claim);
    if (storageClass === undefined || provisioner !== storageClass.provisioner || !this.isSimulated(provisioner)) return;
    const node = this.index.objects.selectedNode(claim);
    if (this.index.objects.waitsForConsumer(claim) && node === undefined) return;
    const volume = provisioned(claim, storageClass, this.names);
    if (this.index.volumes.get('', volume.metadata.name ?? '') !== undefined) return;
    const about = aboutClaim(claim);
    this.recorder.event(about, 'Normal', 'Provisioning', `External provisioner is provisioning volume for claim ${JSON.stringify(key)}`);
    try {
      await this.index.volumes.whenArrived(await this.context.client.create<Volume>(refs.persistentVolumes, '', volume));
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    this.recorder.event(about, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata.name}`);
  }

  /** A bound claim that asks for more than it has gets it. */
  private async grow(claim: Claim): Promise<undefined> {
    const requestedSize = claim.spec?.resources?.requests?.storage;
    const has = claim.status?.capacity?.storage;
    if (
      claim.status?.phase !== 'Bound' ||
      requestedSize === undefined ||
      has === undefined ||
      amount(requestedSize).compare(amount(has)) <= 0
    )
      return;
    const volume = this.index.volumes.get('', claim.spec?.volumeName ?? '');
    if (volume === undefined || !this.isOurs(volume) || this.index.objects.classOf(claim)?.allowVolumeExpansion !== true) return;
    const { client } = this.context;
    const about = aboutClaim(claim);
    const volumeName = volume.metadata.name ?? '';
    this.recorder.event(about, 'Normal', 'Resizing', `External resizer is resizing volume ${volumeName}`);
    if (amount(volume.spec?.capacity?.storage ?? '0').compare(amount(requestedSize)) < 0)
      await this.index.volumes.whenArrived(
        await client.patch(refs.persistentVolumes, '', volumeName, { spec: { capacity: { storage: requestedSize } } }),
      );
    const { namespace = '', name = '' } = claim.metadata;
    const status = { capacity: { storage: requestedSize } };
    await this.index.claims.whenArrived(await client.patch(refs.persistentVolumeClaims, namespace, name, { status }, 'status'));
    this.recorder.event(about, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  /** Deletes a released volume. */
  async collect(name: string): Promise<undefined> {
    const volume = this.index.volumes.get('', name);
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined || volume.status?.phase !== 'Released') return;
    if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete' || !this.isOurs(volume)) return;
    const { uid = '' } = volume.metadata;
    await this.context.client.delete(refs.persistentVolumes, '', name, { preconditions: { uid } }).catch(unlessGoneOrReplaced);
  }
  private isOurs({ metadata }: Volume): boolean {
    return this.isSimulated(own(metadata.annotations, this.names.provisionedBy));
  }
}

/** Names of provisioners may contain what names of drivers may not. */
const driverOf = (provisioner: string, { simulated }: VolumeNames): string =>
  dns1123Subdomain(provisioner).length === 0 && provisioner.length <= MAX_DRIVER_NAME ? provisioner : simulated;
const MAX_DRIVER_NAME = 63;

/** The volume for a claim, bound to it from the start. */
function provisioned(claim: Claim, storageClass: StorageClass, names: VolumeNames): Volume {
  const { uid = '', name, namespace } = claim.metadata;
  const volumeName = `pvc-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName, annotations: { [names.provisionedBy]: storageClass.provisioner } },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '1Gi' },
      accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
      ...(storageClass.mountOptions != null && { mountOptions: storageClass.mountOptions }),
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      csi: { driver: driverOf(storageClass.provisioner, names), volumeHandle: volumeName },
    },
  } as unknown as Volume;
}
