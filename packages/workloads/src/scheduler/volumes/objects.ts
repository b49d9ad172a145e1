/** Claims, volumes, classes and drivers as the scheduler sees them, with what it has decided and not seen so far. */

import type { Informer } from '@plat-dev/client/informer';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass as StorageClassSchema } from '@plat-dev/kinds/storage/schema/v1';
import { amount } from '@plat-dev/kinds/validation/resources';
import type { Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { fromLabelSelector, type Labels } from '@plat-dev/meta/labels';

export type Claim = Wire<PersistentVolumeClaim>;
export type Volume = Wire<PersistentVolume>;
export type StorageClass = Wire<StorageClassSchema>;
export type DriverNode = Wire<CSINode>;
export type Driver = Wire<CSIDriver>;
export type Capacity = Wire<CSIStorageCapacity>;

type Store<T extends Claim | Volume | StorageClass | DriverNode | Driver | Capacity> = Pick<Informer<T>, 'get' | 'list'>;

export interface VolumeStores {
  readonly claims: Store<Claim>;
  readonly volumes: Store<Volume>;
  readonly classes: Store<StorageClass>;
  readonly drivers: Store<DriverNode>;
  /** What drivers say about themselves, and about their free room in parts of the cluster. Absent: they say nothing. */
  readonly driverInfos?: Store<Driver>;
  readonly capacities?: Store<Capacity>;
}

export const claimKey = ({ metadata }: Claim): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

export class VolumeObjects {
  readonly zoneLabels: readonly string[];
  readonly annotations: { readonly selectedNode: string; readonly boundByController: string };
  /** Volumes that were chosen for a claim, by name: others do not get them meanwhile. */
  readonly chosenVolumes = new Map<string, string>();
  private readonly bindCompleted: string;
  private readonly oldClass: string;
  private readonly noProvisioner: string;
  private readonly stores: VolumeStores;

  constructor(identity: Identity, stores: VolumeStores) {
    this.stores = stores;
    this.zoneLabels = ['topology', 'failure-domain.beta'].flatMap((prefix) => [
      domainName(identity, 'zone', prefix),
      domainName(identity, 'region', prefix),
    ]);
    this.annotations = {
      selectedNode: domainName(identity, 'selected-node', 'volume'),
      boundByController: domainName(identity, 'bound-by-controller', 'pv'),
    };
    this.bindCompleted = domainName(identity, 'bind-completed', 'pv');
    this.oldClass = domainName(identity, 'storage-class', 'volume.beta');
    this.noProvisioner = domainName(identity, 'no-provisioner');
  }
  claim(namespace: string, name: string): Claim | undefined {
    return this.stores.claims.get(namespace, name);
  }
  volume(name: string): Volume | undefined {
    return this.stores.volumes.get('', name);
  }
  volumes(): Iterable<Volume> {
    return this.stores.volumes.list();
  }
  /** Both sides of the binding are written. */
  isBound({ spec, status, metadata }: Claim): boolean {
    if ((spec?.volumeName ?? '') === '') return false;
    return status?.phase === 'Bound' || own(metadata.annotations, this.bindCompleted) !== undefined;
  }
  classNameOf({ spec, metadata }: Claim | Volume): string {
    return own(metadata.annotations, this.oldClass) ?? spec?.storageClassName ?? '';
  }
  classOf(claim: Claim): StorageClass | undefined {
    const name = this.classNameOf(claim);
    return name === '' ? undefined : this.stores.classes.get('', name);
  }
  waitsForConsumer(claim: Claim): boolean {
    return this.classOf(claim)?.volumeBindingMode === 'WaitForFirstConsumer';
  }
  canProvision({ provisioner }: StorageClass): boolean {
    return provisioner !== '' && provisioner !== this.noProvisioner;
  }
  /** Whether the driver of a claim's class has room for it where the node is. Drivers that do not report theirs have. */
  hasRoom(claim: Claim, labels: Labels): boolean {
    const storageClass = this.classOf(claim);
    if (storageClass === undefined || this.stores.driverInfos?.get('', storageClass.provisioner)?.spec?.storageCapacity !== true)
      return true;
    const size = amount(claim.spec?.resources?.requests?.storage ?? '0');
    for (const { storageClassName, capacity, maximumVolumeSize, nodeTopology } of this.stores.capacities?.list() ?? []) {
      const room = maximumVolumeSize ?? capacity;
      if (storageClassName !== storageClass.metadata.name || room === undefined || amount(room).compare(size) < 0) continue;
      if (fromLabelSelector(nodeTopology).matches(labels)) return true;
    }
    return false;
  }
  selectedNode({ metadata }: Claim): string | undefined {
    return own(metadata.annotations, this.annotations.selectedNode);
  }
  /** The volumes that drivers can attach to a node; undefined without a limit. */
  limits(node: string): ReadonlyMap<string, number> | undefined {
    const drivers = this.stores.drivers.get('', node)?.spec?.drivers ?? [];
    const limits = drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    );
    return limits.length === 0 ? undefined : new Map(limits);
  }
  /** The driver and the volume of a claim; of one without a volume, those that its class will make. */
  attachment(claim: Claim): { readonly driver: string; readonly handle: string } | undefined {
    const volume = this.volume(claim.spec?.volumeName ?? '');
    if (volume !== undefined) {
      const csi = volume.spec?.csi;
      return csi === undefined ? undefined : { driver: csi.driver, handle: csi.volumeHandle };
    }
    const storageClass = this.classOf(claim);
    return storageClass === undefined ? undefined : { driver: storageClass.provisioner, handle: `claim ${claimKey(claim)}` };
  }
  attachmentOf(key: string): { readonly driver: string; readonly handle: string } | undefined {
    const slash = key.indexOf('/');
    const claim = this.claim(key.slice(0, slash), key.slice(slash + 1));
    return claim === undefined ? undefined : this.attachment(claim);
  }
}
