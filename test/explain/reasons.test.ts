/** Every reason that an explanation can give has a constructed case. */
import { expect, test } from 'vitest';
import { reasons } from '../../packages/server/src/explain/reasons.ts';
import { claimCases } from './cases/claims.ts';
import { clusterCases } from './cases/cluster.ts';
import { deletionCases } from './cases/deletion.ts';
import { namespaceDeletionCases } from './cases/namespace-deletion.ts';
import { networkCases } from './cases/network.ts';
import { placementCases } from './cases/placement.ts';
import { runningPodCases } from './cases/running-pods.ts';
import { startingPodCases } from './cases/starting-pods.ts';
import { workloadCases } from './cases/workloads.ts';

test('every reason has a case', () => {
  const cases = [
    ...[deletionCases, namespaceDeletionCases],
    ...[placementCases, claimCases, startingPodCases],
    ...[workloadCases, runningPodCases, networkCases, clusterCases],
  ].flat();
  const covered = new Set(cases.flatMap(({ reason, also }) => [reason, also]));
  expect(reasons.filter((reason) => !covered.has(reason))).toEqual([]);
});
