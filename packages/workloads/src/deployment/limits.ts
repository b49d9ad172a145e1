/** How many pods a deployment may have too many, and too few, while it rolls out. */
import type { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import type { Wire } from '@plat-dev/kinds/wire';
import { scaledDown, scaledUp } from '../shared/amounts.ts';

export type DeploymentObject = Wire<Deployment>;

export interface Limits {
  readonly desired: number;
  readonly isRolling: boolean;
  /** Pods above the desired number. */
  readonly surge: number;
  /** Pods of the desired number that may be missing. */
  readonly unavailable: number;
}

/**
 * Shares round in favour of availability, and one of the limits lets the rollout go on:
 *
 *   10 replicas, surge 25%, unavailable 25%   surge 3, unavailable 2
 *    1 replica,  surge 0,   unavailable 25%   surge 0, unavailable 1
 */
export function limitsOf({ spec }: DeploymentObject): Limits {
  const desired = spec?.replicas ?? 1;
  const isRolling = (spec?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  if (!isRolling) return { desired, isRolling, surge: 0, unavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = spec?.strategy?.rollingUpdate ?? {};
  const surge = scaledUp(maxSurge, desired);
  const unavailable = scaledDown(maxUnavailable, desired);
  return { desired, isRolling, surge, unavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, desired) };
}
