/** The status of a stateful set. */
import type { StatefulSetStatus } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { Part } from '@plat-dev/kinds/wire';
import type { Revision } from '../revisions/revision.ts';
import type { StatefulSetObject } from './members.ts';
import type { Counts } from './plan.ts';

export type Status = Part<StatefulSetStatus>;

/** An update is complete when all pods have the new revision and are ready: it is the current one from then on. */
export function statefulSetStatus(
  { metadata, spec, status }: StatefulSetObject,
  counts: Counts,
  { current, update, collisions }: { current: Revision; update: Revision; collisions: number },
): Status {
  const { replicas, ready, available, updated } = counts;
  const isComplete = spec?.updateStrategy?.type === 'RollingUpdate' && updated === replicas && ready === replicas;
  return {
    ...(status?.conditions !== undefined && { conditions: status.conditions }),
    observedGeneration: metadata.generation ?? 0,
    replicas,
    readyReplicas: ready,
    availableReplicas: available,
    currentReplicas: isComplete ? updated : counts.current,
    updatedReplicas: updated,
    currentRevision: (isComplete ? update : current).metadata.name ?? '',
    updateRevision: update.metadata.name ?? '',
    collisionCount: collisions,
  };
}
