import { expect, test } from 'vitest';
import { readinessOf } from './readiness.ts';

const replicas = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3, observedGeneration: 1 };
const condition = (type: string, status: string, more: object = {}) => ({ conditions: [{ type, status, ...more }] });

test.each([
  ['Deployment', { replicas: 3 }, replicas, ''],
  ['Deployment', { replicas: 3 }, {}, 'its controller has not seen it'],
  ['Deployment', { replicas: 3 }, { ...replicas, observedGeneration: 0 }, 'its controller has not seen the latest change'],
  ['Deployment', { replicas: 3 }, { ...replicas, updatedReplicas: 1 }, '1 of 3 replicas are updated'],
  ['Deployment', { replicas: 3 }, { ...replicas, replicas: 4 }, '1 old replicas are still there'],
  ['Deployment', { replicas: 3 }, { ...replicas, availableReplicas: 2 }, '2 of 3 replicas are available'],
  ['Deployment', {}, { ...replicas, replicas: 1, updatedReplicas: 1, availableReplicas: 0 }, '0 of 1 replicas are available'],
  ['StatefulSet', { replicas: 3 }, replicas, ''],
  ['StatefulSet', { replicas: 3 }, { ...replicas, readyReplicas: 1 }, '1 of 3 replicas are ready'],
  ['StatefulSet', { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } }, { ...replicas, updatedReplicas: 1 }, ''],
  ['StatefulSet', { replicas: 3, updateStrategy: { type: 'OnDelete' } }, { ...replicas, updatedReplicas: 0 }, ''],
  ['DaemonSet', {}, { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }, ''],
  [
    'DaemonSet',
    {},
    { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
    '1 of 2 pods are available',
  ],
  ['ReplicaSet', { replicas: 3 }, { ...replicas, availableReplicas: 1 }, '1 of 3 replicas are available'],
  ['Job', { completions: 2 }, condition('Complete', 'True'), ''],
  ['Job', { completions: 2 }, { succeeded: 1 }, '1 of 2 pods have succeeded'],
  ['Pod', {}, { phase: 'Running', ...condition('Ready', 'True') }, ''],
  ['Pod', {}, { phase: 'Succeeded' }, ''],
  ['Pod', {}, { phase: 'Pending', ...condition('PodScheduled', 'False', { reason: 'Unschedulable' }) }, 'it is Pending: Unschedulable'],
  ['PersistentVolumeClaim', {}, { phase: 'Bound' }, ''],
  ['PersistentVolumeClaim', {}, {}, 'it is Pending'],
  ['CustomResourceDefinition', {}, condition('Established', 'True'), ''],
  ['CustomResourceDefinition', {}, condition('Established', 'False', { reason: 'Installing' }), 'it is not Established: Installing'],
  ['ConfigMap', undefined, undefined, ''],
])('%s with spec %j and status %j: %s', (kind, spec, status, why) => {
  const object = { apiVersion: 'v1', kind, metadata: { name: 'x', generation: 1 }, spec, status };
  expect(readinessOf(object, false)).toEqual({ ready: why === '', why });
});

test.each([
  [
    'Deployment',
    condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' }),
    'its progress deadline exceeded: ProgressDeadlineExceeded',
  ],
  [
    'Job',
    condition('Failed', 'True', { reason: 'BackoffLimitExceeded', message: 'too often' }),
    'it failed: BackoffLimitExceeded: too often',
  ],
  ['Pod', { phase: 'Failed', reason: 'Evicted' }, 'it failed: Evicted'],
])('a %s that failed is not waited for', (kind, status, why) => {
  expect(readinessOf({ kind, metadata: { name: 'x' }, status } as never, false)).toEqual({ ready: false, why, failed: true });
});

test('a custom kind with a status is ready by its condition, one without always', () => {
  const bed = (status?: object) => ({ apiVersion: 'example.com/v1', kind: 'Bed', metadata: { name: 'b', generation: 2 }, status }) as never;
  expect(readinessOf(bed(), true).why).toBe('it has no condition Ready');
  expect(readinessOf(bed(condition('Ready', 'False', { reason: 'Growing' })), true).why).toBe('condition Ready is False: Growing');
  expect(readinessOf(bed({ ...condition('Ready', 'True'), observedGeneration: 1 }), true).why).toBe(
    'its controller has not seen the latest change',
  );
  expect(readinessOf(bed({ ...condition('Ready', 'True'), observedGeneration: 2 }), true).ready).toBe(true);
  expect(readinessOf(bed(), false).ready).toBe(true);
  expect(readinessOf(undefined, true).why).toBe('it does not exist');
});
