/**
 * Who owns the claims of a member, by `persistentVolumeClaimRetentionPolicy` (feature StatefulSetAutoDeletePVC): the garbage
 * collector deletes a claim with its last owner.
 *
 *   whenDeleted  whenScaled    member of the set      surplus member
 *   Retain       Retain        nobody                 nobody
 *   Delete       Retain        the set                the set
 *   Retain       Delete        nobody                 the pod
 *   Delete       Delete        the set                the pod
 */
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Claim, StatefulSetObject } from './members.ts';

/** The owners that a claim should have; undefined where it has them. Owners that are neither the set nor the pod stay. */
export function claimOwners(set: StatefulSetObject, pod: WorkloadPod, claim: Claim, isSurplus: boolean): OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const byPod = whenScaled === 'Delete' && isSurplus;
  const bySet = whenDeleted === 'Delete' && !byPod;
  const oldOwners = claim.metadata.ownerReferences ?? [];
  const owns = ({ metadata }: { metadata: { uid?: string } }): boolean => oldOwners.some(({ uid }) => uid === metadata.uid);
  if (owns(pod) === byPod && owns(set) === bySet) return undefined;
  const others = oldOwners.filter(({ uid }) => uid !== pod.metadata.uid && uid !== set.metadata.uid);
  const owner = (apiVersion: string, kind: string, { name = '', uid = '' }: { name?: string; uid?: string }): OwnerReference => ({
    apiVersion,
    kind,
    name,
    uid,
  });
  return [
    ...others,
    ...(bySet ? [owner('apps/v1', 'StatefulSet', set.metadata)] : []),
    ...(byPod ? [owner('v1', 'Pod', pod.metadata)] : []),
  ];
}

/** Whether a claim belongs to a pod of the same name that is gone: it will be deleted, and a new pod must not use it. */
export function isStale(claim: Claim, podName: string, uid: string | undefined): boolean {
  return (claim.metadata.ownerReferences ?? []).some((owner) => owner.kind === 'Pod' && owner.name === podName && owner.uid !== uid);
}
