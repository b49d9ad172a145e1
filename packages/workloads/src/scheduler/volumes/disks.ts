/** Disks that pods name directly and that not any number of pods can use at once. */
import type { WorkloadPod } from '../../shared/pods.ts';

export interface Disk {
  /** Disks of one kind with a common name are the same. */
  readonly kind: 'gce' | 'aws' | 'iscsi' | 'rbd';
  readonly ids: readonly string[];
  readonly readOnly: boolean;
}

type Spec = NonNullable<WorkloadPod['spec']>;

export function disksOf({ volumes }: Pick<Spec, 'volumes'>): Disk[] {
  const disks: Disk[] = [];
  for (const { gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd } of volumes ?? []) {
    if (gce !== undefined) disks.push({ kind: 'gce', ids: [gce.pdName], readOnly: gce.readOnly ?? false });
    // A disk of this kind has one user, however it is used.
    if (aws !== undefined) disks.push({ kind: 'aws', ids: [aws.volumeID], readOnly: false });
    if (iscsi !== undefined) disks.push({ kind: 'iscsi', ids: [iscsi.iqn], readOnly: iscsi.readOnly ?? false });
    if (rbd !== undefined) {
      const ids = (rbd.monitors ?? []).map((monitor) => [monitor, rbd.pool ?? '', rbd.image].join('\n'));
      disks.push({ kind: 'rbd', ids, readOnly: rbd.readOnly ?? false });
    }
  }
  return disks;
}

/** Whether two pods cannot use these disks on one node: they are the same, and not both only read. */
export const conflict = (a: Disk, b: Disk): boolean =>
  a.kind === b.kind && !(a.readOnly && b.readOnly) && a.ids.some((id) => b.ids.includes(id));
