/** The replica sets of a deployment: the one with its template, the older ones, their sizes and their order. */
import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { timeMillis } from '@plat-dev/meta/time';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { Template } from '../shared/pod-control.ts';

/** The label that the replica sets of a deployment, and their pods, differ by. */
export const HASH_LABEL = 'pod-template-hash';

/** The number of pods that a set should have. */
export const sizeOf = ({ spec }: ReplicaSetObject): number => spec?.replicas ?? 1;
/** The number of pods that it has. */
export const podsOf = ({ status }: ReplicaSetObject): number => status?.replicas ?? 0;
export const readyOf = ({ status }: ReplicaSetObject): number => status?.readyReplicas ?? 0;
export const availableOf = ({ status }: ReplicaSetObject): number => status?.availableReplicas ?? 0;
/** The number of pods that it has or is about to have. */
export const mostPodsOf = (set: ReplicaSetObject): number => Math.max(sizeOf(set), podsOf(set));
export const sum = (sets: readonly ReplicaSetObject[], of: (set: ReplicaSetObject) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

export const hasSize = (set: ReplicaSetObject): boolean => sizeOf(set) > 0;
/** Whether the status is about the current size: before, the set may still create or delete pods for an earlier one. */
export const isObserved = ({ metadata, status }: ReplicaSetObject): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const createdAt = ({ metadata }: ReplicaSetObject): number =>
  metadata.creationTimestamp == null ? 0 : timeMillis(metadata.creationTimestamp);
/** Oldest first. */
export function byAge(a: ReplicaSetObject, b: ReplicaSetObject): number {
  return createdAt(a) - createdAt(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}
/** Largest first; of the same size the oldest first. */
export const bySize = (a: ReplicaSetObject, b: ReplicaSetObject): number => sizeOf(b) - sizeOf(a) || byAge(a, b);
/** Largest first; of the same size the newest first. */
export const bySizeNewestFirst = (a: ReplicaSetObject, b: ReplicaSetObject): number => sizeOf(b) - sizeOf(a) || byAge(b, a);

/** Whether two templates make the same pods: the label by which replica sets differ does not count. */
export function isSameTemplate(a: Template | undefined, b: Template | undefined): boolean {
  return equal(withoutHash(a), withoutHash(b));
}

/** A template without the label by which replica sets differ. */
export function withoutHash(template: Template | undefined): Template {
  const { creationTimestamp: _, labels, ...metadata }: Partial<NonNullable<Template['metadata']>> = template?.metadata ?? {};
  const { [HASH_LABEL]: _hash, ...others } = labels ?? {};
  const labelsWithoutHash = Object.keys(others).length > 0 ? { labels: others } : {};
  return { ...template, metadata: { ...metadata, ...labelsWithoutHash } } as Template;
}

/** The set with the template of the deployment; the oldest one where several have it. There may be many sets with large templates. */
export function* findCurrent(sets: readonly ReplicaSetObject[], template: Template | undefined): Work<ReplicaSetObject | undefined> {
  for (const set of [...sets].sort(byAge)) {
    if (isSameTemplate(set.spec?.template, template)) return set;
    yield;
  }
  return undefined;
}

/** The sets that go beyond the history limit, oldest revision first: none that has pods, is about to have some, or is terminating. */
export function beyondHistory(
  old: readonly ReplicaSetObject[],
  limit: number | undefined,
  revisionOf: (set: ReplicaSetObject) => bigint,
): ReplicaSetObject[] {
  if (limit === undefined || limit === UNLIMITED) return [];
  const aliveSets = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = aliveSets.length - limit;
  if (surplus <= 0) return [];
  return aliveSets
    .sort((a, b) => (revisionOf(a) === revisionOf(b) ? byAge(a, b) : revisionOf(a) < revisionOf(b) ? -1 : 1))
    .slice(0, surplus)
    .filter((set) => sizeOf(set) === 0 && podsOf(set) === 0 && isObserved(set));
}

/** The largest number of the API, which stands for no limit. */
export const UNLIMITED = 2 ** 31 - 1;
