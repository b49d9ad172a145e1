/**
 * Binds claims to volumes. A binding is written on both sides, and every step can be repeated: after a crash the next run goes on.
 *
 *   claim Pending, volume Available    claim and volume name each other, both are Bound
 *   claim gone                         the volume is Released, and is deleted, kept or fails by its reclaim policy
 *   volume gone                        the claim is Lost
 */

import { unlessGone } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { equal } from '@plat-dev/lib/equal';
import { own, without } from '@plat-dev/lib/own';
import { groupName } from '@plat-dev/meta/identity';
import { matchingVolumes } from '../scheduler/volumes/matching-volumes.ts';
import { EventRecorder, type EventType } from '../shared/events.ts';
import { mismatch } from './mismatch.ts';
import {
  aboutClaim,
  aboutVolume,
  type Claim,
  claimKeyOf,
  isFor,
  referenceTo,
  type Volume,
  type VolumeIndex,
  type VolumeNames,
  volumeIndex,
  volumeNames,
} from './volume-objects.ts';

export interface BinderSettings {
  /** Whether volumes that no provisioner made are deleted by the simulation. */
  readonly deletesAny: boolean;
}

const WORKERS = 8;
const VOLUME = 'volume:';

export const volumeBinder = (settings: BinderSettings): Controller => ({
  name: 'persistentvolume-binder',
  account: 'persistent-volume-binder',
  start(context) {
    const { informers, queue, identity } = context;
    const index = volumeIndex(informers, identity);
    const run = new BinderRun(context, index, volumeNames(identity), settings);
    /** Claims by namespace and name; volumes have their name after a prefix. */
    const work: WorkQueue = queue((key) => (key.startsWith(VOLUME) ? run.syncVolume(key.slice(VOLUME.length)) : run.syncClaim(key)), {
      after: index.synced,
      workers: WORKERS,
    });
    const addVolume = (name: string): void => work.add(`${VOLUME}${name}`);
    index.claims.onChange(({ type, object }) => {
      if (type === 'deleted') run.waiting.delete(keyOf(object));
      else work.add(keyOf(object));
      const name = object.spec?.volumeName ?? '';
      if (name !== '') addVolume(name);
    });
    index.volumes.onChange(({ type, object, old }) => {
      addVolume(object.metadata.name ?? '');
      for (const volume of old === undefined ? [object] : [old, object]) {
        const key = claimKeyOf(volume);
        if (key !== undefined) work.add(key);
      }
      if (type === 'deleted') return;
      for (const [key, waitingClaim] of run.waiting) if (run.mayHelp(object, waitingClaim)) work.add(key);
    });
    index.classes.onChange(({ type, object }) => {
      if (type === 'deleted') return;
      for (const [key, waitingClaim] of run.waiting) if (waitingClaim.className === object.metadata.name) work.add(key);
    });
  },
});

/** What a claim waits for. */
interface WaitingClaim {
  readonly className: string;
  readonly volumeName: string;
}

class BinderRun {
  /** Claims without a volume, by their keys. */
  readonly waiting = new Map<string, WaitingClaim>();
  private readonly context: ControllerContext;
  private readonly index: VolumeIndex;
  private readonly names: VolumeNames;
  private readonly settings: BinderSettings;
  private readonly recorder: EventRecorder;

  constructor(context: ControllerContext, index: VolumeIndex, names: VolumeNames, settings: BinderSettings) {
    this.context = context;
    this.index = index;
    this.names = names;
    this.settings = settings;
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'persistentvolume-controller' });
  }
  /** Whether a volume may be what a claim waits for. */
  mayHelp(volume: Volume, { className, volumeName }: WaitingClaim): boolean {
    if (volumeName !== '') return volume.metadata.name === volumeName;
    return volume.status?.phase === 'Available' && this.index.objects.classNameOf(volume) === className;
  }

  // ---- claims ------------------------------------------------------------------------------------------------------

  async syncClaim(key: string): Promise<undefined> {
    const { namespace, name } = splitKey(key);
    const claim = this.index.claims.get(namespace, name);
    this.waiting.delete(key);
    if (claim === undefined) return;
    if (own(claim.metadata.annotations, this.names.bindCompleted) !== undefined) await this.syncBound(claim);
    else if ((claim.spec?.volumeName ?? '') === '') await this.syncUnbound(claim);
    else await this.syncNamed(claim);
  }

  /** A claim that takes any volume that fits. */
  private async syncUnbound(claim: Claim): Promise<void> {
    const { objects } = this.index;
    const isSelected = objects.selectedNode(claim) !== undefined;
    const isDelayed = objects.waitsForConsumer(claim) && !isSelected;
    const [matchingVolume] = this.index.among(claim, () => matchingVolumes(objects, claim));
    // A claim that waits for a pod gets only a volume that was chosen for it.
    if (matchingVolume !== undefined && (!isDelayed || isFor(matchingVolume, claim))) {
      await this.bind(claim, matchingVolume);
      return;
    }
    this.waiting.set(keyOf(claim), { className: objects.classNameOf(claim), volumeName: '' });
    if (isDelayed) this.event(claim, 'Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
    else if (objects.classNameOf(claim) !== '') claim = await this.requestProvisioning(claim);
    else this.event(claim, 'Normal', 'FailedBinding', 'no persistent volumes available for this claim and no storage class is set');
    await this.claimStatus(claim, { phase: 'Pending' });
  }

  /** A claim that names its volume. */
  private async syncNamed(claim: Claim): Promise<void> {
    const name = claim.spec?.volumeName ?? '';
    const volume = this.index.volumes.get('', name);
    if (volume !== undefined && volume.spec?.claimRef != null && isFor(volume, claim)) {
      await this.bind(claim, volume);
      return;
    }
    if (volume !== undefined && volume.spec?.claimRef == null) {
      const { objects } = this.index;
      const problem = mismatch(claim, volume, { claim: objects.classNameOf(claim), volume: objects.classNameOf(volume) });
      if (problem === undefined) {
        await this.bind(claim, volume);
        return;
      }
      this.event(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume ${JSON.stringify(name)}: ${problem}`);
    } else if (volume !== undefined)
      this.event(claim, 'Warning', 'FailedBinding', `volume ${JSON.stringify(name)} already bound to a different claim.`);
    this.waiting.set(keyOf(claim), { className: '', volumeName: name });
    await this.claimStatus(claim, { phase: 'Pending' });
  }

  /** A claim that was bound before. */
  private async syncBound(claim: Claim): Promise<void> {
    const name = claim.spec?.volumeName ?? '';
    const volume = this.index.volumes.get('', name);
    const lost = async (reason: string, message: string): Promise<void> => {
      if (claim.status?.phase !== 'Lost') this.event(claim, 'Warning', reason, message);
      await this.claimStatus(claim, { phase: 'Lost' });
    };
    if (name === '') return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
    if (volume === undefined) {
      this.waiting.set(keyOf(claim), { className: '', volumeName: name });
      return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
    }
    if (volume.spec?.claimRef == null || isFor(volume, claim)) await this.bind(claim, volume);
    else await lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
  }

  /** Names the provisioner that should make a volume for a claim. Returns the claim as it is then. */
  private async requestProvisioning(claim: Claim): Promise<Claim> {
    const { objects, claims } = this.index;
    const className = objects.classNameOf(claim);
    const storageClass = objects.classOf(claim);
    if (storageClass === undefined) {
      const resource = `storageclass.${groupName(this.context.identity, 'storage')}`;
      this.event(claim, 'Warning', 'ProvisioningFailed', `${resource} ${JSON.stringify(className)} not found`);
      return claim;
    }
    const { provisioner } = storageClass;
    if (!objects.canProvision(storageClass)) {
      this.event(claim, 'Normal', 'FailedBinding', 'no persistent volumes available for this claim and its storage class provisions none');
      return claim;
    }
    let current = claim;
    if (this.names.provisioners.some((name) => own(claim.metadata.annotations, name) !== provisioner)) {
      const annotations = {
        ...claim.metadata.annotations,
        ...Object.fromEntries(this.names.provisioners.map((name) => [name, provisioner])),
      };
      current = await this.context.client.update<Claim>(refs.persistentVolumeClaims, claimWith(claim, { annotations }));
      await claims.whenArrived(current);
    }
    const message = `waiting for a volume to be created, either by external provisioner ${JSON.stringify(provisioner)} or manually created by system administrator`;
    this.event(claim, 'Normal', 'ExternalProvisioning', message);
    return current;
  }

  // ---- the binding -------------------------------------------------------------------------------------------------

  private async bind(claim: Claim, volume: Volume): Promise<void> {
    const name = volume.metadata.name ?? '';
    const key = keyOf(claim);
    const { chosenVolumes } = this.index.objects;
    const other = chosenVolumes.get(name);
    if (other !== undefined && other !== key) throw new Error(`volume ${name} is being bound to claim ${other}`);
    chosenVolumes.set(name, key);
    try {
      const bound = await this.bindVolume(volume, claim);
      await this.volumePhase(bound, 'Bound');
      const done = await this.bindClaim(claim, bound);
      await this.claimStatus(done, {
        phase: 'Bound',
        ...(bound.spec?.accessModes != null && { accessModes: bound.spec.accessModes }),
        ...capacityOf(done, bound),
      });
    } finally {
      chosenVolumes.delete(name);
    }
  }
  private async bindVolume(volume: Volume, claim: Claim): Promise<Volume> {
    const { claimRef } = volume.spec ?? {};
    if (claimRef?.uid === claim.metadata.uid) return volume;
    const annotated = claimRef == null ? { annotations: { ...volume.metadata.annotations, [this.names.boundByController]: 'yes' } } : {};
    const next = { ...volumeWith(volume, annotated), spec: { ...volume.spec, claimRef: referenceTo(claim) } } as Volume;
    return this.updateVolume(next);
  }
  private async bindClaim(claim: Claim, volume: Volume): Promise<Claim> {
    const { bindCompleted, boundByController } = this.names;
    const volumeName = volume.metadata.name ?? '';
    const isNamed = claim.spec?.volumeName === volumeName;
    if (isNamed && own(claim.metadata.annotations, bindCompleted) !== undefined) return claim;
    const annotations = { ...claim.metadata.annotations, ...(!isNamed && { [boundByController]: 'yes' }), [bindCompleted]: 'yes' };
    const next = { ...claimWith(claim, { annotations }), spec: { ...claim.spec, volumeName } } as Claim;
    const updatedClaim = await this.context.client.update<Claim>(refs.persistentVolumeClaims, next);
    await this.index.claims.whenArrived(updatedClaim);
    return updatedClaim;
  }

  // ---- volumes -----------------------------------------------------------------------------------------------------

  async syncVolume(name: string): Promise<undefined> {
    const volume = this.index.volumes.get('', name);
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return;
    const claimRef = volume.spec?.claimRef;
    if (claimRef == null || (claimRef.uid ?? '') === '') {
      await this.volumePhase(volume, 'Available');
      return;
    }
    const { namespace = '', name: claimName = '', uid } = claimRef;
    let claim = this.index.claims.get(namespace, claimName);
    // The informer of claims may be behind that of volumes, and data must not be lost by that.
    if (claim?.metadata.uid !== uid) claim = await this.context.client.find<Claim>(refs.persistentVolumeClaims, namespace, claimName);
    if (claim === undefined || claim.metadata.uid !== uid) {
      await this.release(volume);
      return;
    }
    const volumeName = claim.spec?.volumeName ?? '';
    // The claim finishes a binding that has begun.
    if (volumeName === '') return;
    if (volumeName === name) await this.volumePhase(volume, 'Bound');
    else if (
      own(volume.metadata.annotations, this.names.provisionedBy) !== undefined &&
      volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
    )
      await this.release(volume);
    else await this.unbind(volume);
  }

  /** The claim took another volume. */
  private async unbind(volume: Volume): Promise<void> {
    const { boundByController } = this.names;
    const byController = own(volume.metadata.annotations, boundByController);
    const annotations = without(volume.metadata.annotations ?? {}, boundByController);
    const { claimRef, ...spec } = volume.spec ?? {};
    const { uid: _uid, resourceVersion: _version, ...named } = claimRef ?? {};
    const unboundSpec = byController === undefined ? { ...spec, claimRef: named } : spec;
    const updatedVolume = await this.updateVolume({ ...volumeWith(volume, { annotations }), spec: unboundSpec } as Volume);
    await this.volumePhase(updatedVolume, 'Available');
  }

  /** The claim is gone: the reclaim policy says what becomes of the volume. */
  private async release(volume: Volume): Promise<void> {
    const phase = volume.status?.phase;
    const released = phase === 'Released' || phase === 'Failed' ? volume : await this.volumePhase(volume, 'Released');
    const policy = volume.spec?.persistentVolumeReclaimPolicy;
    if (phase === 'Failed' || policy === 'Retain') return;
    if (policy === 'Recycle') await this.fail(released, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
    else if (!this.settings.deletesAny && own(volume.metadata.annotations, this.names.provisionedBy) === undefined) {
      const text = `error getting deleter volume plugin for volume ${JSON.stringify(volume.metadata.name)}: no volume plugin matched`;
      await this.fail(released, 'VolumeFailedDelete', text);
    }
  }
  private async fail(volume: Volume, reason: string, message: string): Promise<void> {
    this.recorder.event(aboutVolume(volume), 'Warning', reason, message);
    await this.volumePhase(volume, 'Failed', message);
  }

  // ---- writes ------------------------------------------------------------------------------------------------------

  private event(claim: Claim, type: EventType, reason: string, message: string): void {
    this.recorder.event(aboutClaim(claim), type, reason, message);
  }
  private async updateVolume(volume: Volume, subresource?: string): Promise<Volume> {
    const updatedVolume = await this.context.client.update<Volume>(refs.persistentVolumes, volume, subresource);
    await this.index.volumes.whenArrived(updatedVolume);
    return updatedVolume;
  }
  private async volumePhase(volume: Volume, phase: string, message = ''): Promise<Volume> {
    if (volume.status?.phase === phase && (volume.status.message ?? '') === message) return volume;
    const status = { phase, ...(message !== '' && { message }) };
    return this.updateVolume({ ...volumeWith(volume), status } as Volume, 'status');
  }
  private async claimStatus(claim: Claim, next: NonNullable<Claim['status']>): Promise<void> {
    const { phase: _phase, accessModes: _modes, capacity: _capacity, ...rest } = claim.status ?? {};
    const status = { ...rest, ...next };
    if (equal(status, claim.status ?? {})) return;
    const updatedClaim = await this.context.client
      .update<Claim>(refs.persistentVolumeClaims, { ...claimWith(claim), status } as Claim, 'status')
      .catch(unlessGone);
    if (updatedClaim !== undefined) await this.index.claims.whenArrived(updatedClaim);
  }
}

/** The capacity of a bound claim; one that is being resized keeps its own until that is done. */
function capacityOf(claim: Claim, volume: Volume): Pick<NonNullable<Claim['status']>, 'capacity'> {
  const storage =
    claim.status?.phase === 'Bound' ? (claim.status.capacity?.storage ?? volume.spec?.capacity?.storage) : volume.spec?.capacity?.storage;
  return storage === undefined ? {} : { capacity: { storage } };
}

const claimWith = (claim: Claim, metadata: Partial<Claim['metadata']> = {}): Claim => ({
  ...claim,
  ...aboutClaim(claim),
  metadata: { ...claim.metadata, ...metadata },
});
const volumeWith = (volume: Volume, metadata: Partial<Volume['metadata']> = {}): Volume => ({
  ...volume,
  ...aboutVolume(volume),
  metadata: { ...volume.metadata, ...metadata },
});
