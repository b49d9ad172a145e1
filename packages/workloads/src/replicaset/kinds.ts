/** Replica sets and replication controllers: one controller, two kinds. */
import type { ResourceRef } from '@plat-dev/client/dynamic';
import type { ReplicaSet } from '@plat-dev/kinds/apps/schema/replica-set';
import type { ReplicationController } from '@plat-dev/kinds/core/schema/replication-controller';
import type { Wire } from '@plat-dev/kinds/wire';
import type { LabelSelectorObject } from '@plat-dev/meta/labels';
import type { WorkloadRefs } from '../shared/refs.ts';

export type ReplicaSetObject = Wire<ReplicaSet>;
type ReplicationControllerObject = Wire<ReplicationController>;
export type Replicated = ReplicaSetObject | ReplicationControllerObject;
export type ReplicaStatus = NonNullable<Replicated['status']>;

export interface ReplicaKind {
  /** The name by which `--controllers` knows its controller. */
  readonly name: string;
  /** The account of the controller, by which events are reported, too. */
  readonly account: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly ref: (refs: WorkloadRefs) => ResourceRef;
  readonly selector: (object: Replicated) => LabelSelectorObject | undefined;
}

export const replicaSets: ReplicaKind = {
  name: 'replicaset',
  account: 'replicaset-controller',
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  ref: (refs) => refs.replicaSets,
  selector: ({ spec }) => (spec as ReplicaSetObject['spec'])?.selector ?? undefined,
};

export const replicationControllers: ReplicaKind = {
  name: 'replicationcontroller',
  account: 'replication-controller',
  apiVersion: 'v1',
  kind: 'ReplicationController',
  ref: (refs) => refs.replicationControllers,
  selector: ({ spec }) => ({ matchLabels: (spec as ReplicationControllerObject['spec'])?.selector ?? {} }),
};

export const replicasOf = ({ spec }: Replicated): number => spec?.replicas ?? 1;
