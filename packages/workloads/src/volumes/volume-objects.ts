/** Claims and volumes as the controllers of volumes see them. */
import { type Informer, keyOf } from '@plat-dev/client/informer';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { Informers } from '@plat-dev/controllers/runtime/informers';
import type { ObjectReference } from '@plat-dev/kinds/core/schema/references';
import type { Part } from '@plat-dev/kinds/wire';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { type Claim, type StorageClass, type Volume, VolumeObjects } from '../scheduler/volumes/objects.ts';
import type { About } from '../shared/events.ts';
import { workloadRefs } from '../shared/refs.ts';

export type { Claim, StorageClass, Volume };

export const aboutClaim = ({ metadata }: Claim): About => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
export const aboutVolume = ({ metadata }: Volume): About => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata });

export interface VolumeNames {
  /** Both sides of a binding were written. */
  readonly bindCompleted: string;
  /** The binder chose, and not a user. */
  readonly boundByController: string;
  readonly selectedNode: string;
  /** The provisioner of a volume. */
  readonly provisionedBy: string;
  /** The provisioner that a claim waits for, by its old and new name. */
  readonly provisioners: readonly string[];
  /** Class name of a class that provisions nothing. */
  readonly noProvisioner: string;
  /** The provisioner that is simulated also where nodes are not. */
  readonly simulated: string;
  /** Marks the class of claims that name none. */
  readonly defaultClass: string;
}

export function volumeNames(identity: Identity): VolumeNames {
  return {
    bindCompleted: domainName(identity, 'bind-completed', 'pv'),
    boundByController: domainName(identity, 'bound-by-controller', 'pv'),
    selectedNode: domainName(identity, 'selected-node', 'volume'),
    provisionedBy: domainName(identity, 'provisioned-by', 'pv'),
    provisioners: ['volume', 'volume.beta'].map((prefix) => domainName(identity, 'storage-provisioner', prefix)),
    noProvisioner: domainName(identity, 'no-provisioner'),
    simulated: groupName(identity, 'simulated.storage'),
    defaultClass: domainName(identity, 'is-default-class', 'storageclass'),
  };
}

/** `namespace/name` of the claim that a volume names. */
export const claimKeyOf = ({ spec }: Volume): string | undefined =>
  spec?.claimRef == null ? undefined : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`;

/** Whether a volume is for a claim: it names it, and no other object of its name. */
export function isFor({ spec }: Volume, { metadata }: Claim): boolean {
  const { namespace, name, uid = '' } = spec?.claimRef ?? {};
  return name === metadata.name && namespace === metadata.namespace && (uid === '' || uid === metadata.uid);
}

export const referenceTo = ({ metadata }: Claim): Part<ObjectReference> =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
  }) as Part<ObjectReference>;

/** Volumes by the claim that they name, and those that name none: the only ones that a claim can get. */
export class VolumeIndex {
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<Volume>;
  readonly classes: Informer<StorageClass>;
  /** What the scheduler uses to match claims and volumes. */
  readonly objects: VolumeObjects;
  private readonly byClaim = new Map<string, Map<string, Volume>>();
  private readonly free = new Map<string, Volume>();
  private candidates: Iterable<Volume> = [];

  constructor(informers: Informers, identity: Identity) {
    this.claims = informers.of<Claim>(refs.persistentVolumeClaims);
    this.volumes = informers.of<Volume>(refs.persistentVolumes);
    this.classes = informers.of<StorageClass>(workloadRefs(identity).storageClasses);
    this.objects = new VolumeObjects(identity, {
      claims: this.claims,
      volumes: { get: (namespace, name) => this.volumes.get(namespace, name), list: () => this.candidates },
      classes: this.classes,
      drivers: { get: () => undefined, list: () => [] },
    });
    this.volumes.onChange(({ type, object, old }) => {
      if (old !== undefined) this.remove(old);
      if (type !== 'deleted') this.add(object);
    });
  }
  get synced(): readonly Promise<void>[] {
    return [this.claims.synced, this.volumes.synced, this.classes.synced];
  }
  /** Calls with the volumes that a claim could get as all that there are. */
  among<T>(claim: Claim, call: () => T): T {
    this.candidates = [...(this.byClaim.get(keyOf(claim))?.values() ?? []), ...this.free.values()];
    return call();
  }

  private add(volume: Volume): void {
    const { name = '' } = volume.metadata;
    const key = claimKeyOf(volume);
    if (key === undefined) this.free.set(name, volume);
    else this.byClaim.set(key, (this.byClaim.get(key) ?? new Map<string, Volume>()).set(name, volume));
  }
  private remove(volume: Volume): void {
    const { name = '' } = volume.metadata;
    const key = claimKeyOf(volume);
    this.free.delete(name);
    const volumesOfClaim = key === undefined ? undefined : this.byClaim.get(key);
    if (key !== undefined && volumesOfClaim?.delete(name) && volumesOfClaim.size === 0) this.byClaim.delete(key);
  }
}

export const volumeIndex = (informers: Informers, identity: Identity): VolumeIndex =>
  informers.share('volumes by claim', () => new VolumeIndex(informers, identity));
