/** How many pods each replica set of a deployment should have next. */
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { Limits } from './limits.ts';
import { numberOf, type RevisionNames } from './revisions.ts';
import { availableOf, byAge, bySize, bySizeNewestFirst, hasSize, sizeOf, sum } from './sets.ts';

export type Sizes = readonly { readonly set: ReplicaSetObject; readonly size: number }[];

/** The size of the current set in a rollout: as large as the surge allows. `size` is its size now, `pods` the number of all pods. */
export function currentSize({ desired, isRolling, surge }: Limits, size: number, pods: number): number {
  if (!isRolling || size >= desired) return desired;
  return size + Math.max(Math.min(desired + surge - pods, desired - size), 0);
}

/**
 * The sizes of older sets in a rollout. Pods that are not available are dropped first, since they keep nobody waiting; then others,
 * oldest set first, as far as enough are available without them. With 10 replicas, surge 3 and unavailable 2:
 *
 *   old 10 available, new 3 not yet     8: at least 8 stay available
 *   old 8 available, new 5 not yet      8: 13 pods, of which 8 are available
 *   old 8, 2 available; new 5, 5 so     3: 5 that are not available, in any case
 */
export function oldSizes({ desired, unavailable }: Limits, current: ReplicaSetObject, others: readonly ReplicaSetObject[]): Sizes {
  const least = desired - unavailable;
  const old = others.filter(hasSize).sort(byAge);
  const all = [...old, current];
  let droppable = sum(all, sizeOf) - least - Math.max(sizeOf(current) - availableOf(current), 0);
  if (droppable <= 0) return [];
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  for (const set of old) {
    const dropped = Math.min(droppable, Math.max(sizeOf(set) - availableOf(set), 0));
    sizes.set(set, sizeOf(set) - dropped);
    droppable -= dropped;
  }
  let spare = Math.min(sum(all, availableOf) - least, droppable);
  for (const set of old) {
    const dropped = Math.min(Math.max(spare, 0), sizes.get(set) as number);
    sizes.set(set, (sizes.get(set) as number) - dropped);
    spare -= dropped;
  }
  return changed(sizes);
}

/**
 * The sizes of several sets when the deployment is scaled during a rollout, or while it is paused: each gets its share of what is
 * added or removed, and the largest what is left by rounding.
 *
 *   10 → 30 replicas, surge 3: sets of 8 and 5     20 and 13
 */
export function proportionalSizes(limits: Limits, active: readonly ReplicaSetObject[], pods: number, names: RevisionNames): Sizes {
  const { desired, surge } = limits;
  const allowed = desired > 0 ? desired + surge : 0;
  const change = allowed - sum(active, sizeOf);
  const sorted = [...active].sort(change > 0 ? bySizeNewestFirst : bySize);
  let remaining = change;
  const sizes = sorted.map((set) => {
    const part = change === 0 || remaining === 0 ? 0 : shareOf(set, limits, pods, names);
    const addedReplicas = change > 0 ? Math.min(part, remaining) : Math.max(part, remaining);
    remaining -= addedReplicas;
    return { set, size: sizeOf(set) + addedReplicas };
  });
  return sizes.map(({ set, size }, i) => ({ set, size: i === 0 ? Math.max(size + remaining, 0) : size }));
}

/** What a set gets or loses so that its part of the whole stays the same. */
function shareOf(set: ReplicaSetObject, { desired, surge }: Limits, pods: number, names: RevisionNames): number {
  const size = sizeOf(set);
  if (desired === 0) return -size;
  const podsBefore = numberOf(set, names.most) ?? pods;
  return podsBefore > 0 ? Math.round((size * (desired + surge)) / podsBefore) - size : 0;
}

const changed = (sizes: ReadonlyMap<ReplicaSetObject, number>): Sizes =>
  [...sizes].filter(([set, size]) => size !== sizeOf(set)).map(([set, size]) => ({ set, size }));
