import { expect, test } from 'vitest';
import { progressOf } from './status-text.ts';
import type { RolloutStatus, Workload } from './workloads.ts';

const workload = (status: RolloutStatus, spec: object = {}, generation = 2): Workload => ({
  metadata: { name: 'web', uid: 'u', generation },
  spec: { replicas: 3, template: {}, updateStrategy: { type: 'RollingUpdate' }, ...spec },
  status,
});
const line = (kind: string, status: RolloutStatus, spec?: object): string =>
  progressOf(kind, workload({ observedGeneration: 2, ...status }, spec), 0, () => 0)?.text ?? '';

test.each([
  [{ observedGeneration: 1 }, 'Waiting for deployment spec update to be observed...\n'],
  [{ updatedReplicas: 1 }, 'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...\n'],
  [{ updatedReplicas: 3, replicas: 5 }, 'Waiting for deployment "web" rollout to finish: 2 old replicas are pending termination...\n'],
  [
    { updatedReplicas: 3, replicas: 3, availableReplicas: 2 },
    'Waiting for deployment "web" rollout to finish: 2 of 3 updated replicas are available...\n',
  ],
  [{ updatedReplicas: 3, replicas: 3, availableReplicas: 3 }, 'deployment "web" successfully rolled out\n'],
])('deployment %j', (status, text) => {
  expect(line('Deployment', status)).toBe(text);
});

test('a deployment that exceeded its deadline, or has another revision, fails', () => {
  const conditions = [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }];
  expect(() => line('Deployment', { conditions })).toThrow('deployment "web" exceeded its progress deadline');
  const other = (): unknown => progressOf('Deployment', workload({ observedGeneration: 2 }), 4, () => 5);
  expect(other).toThrow('desired revision (4) is different from the running revision (5)');
});

test.each([
  [{ observedGeneration: 1 }, 'Waiting for daemon set spec update to be observed...\n'],
  [
    { desiredNumberScheduled: 2, updatedNumberScheduled: 1 },
    'Waiting for daemon set "web" rollout to finish: 1 out of 2 new pods have been updated...\n',
  ],
  [
    { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
    'Waiting for daemon set "web" rollout to finish: 1 of 2 updated pods are available...\n',
  ],
  [{ desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }, 'daemon set "web" successfully rolled out\n'],
])('daemon set %j', (status, text) => {
  expect(line('DaemonSet', status)).toBe(text);
});

const partitioned = (partition: number) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } });
test.each([
  [{ observedGeneration: 1 }, {}, 'Waiting for statefulset spec update to be observed...\n'],
  [{ readyReplicas: 1 }, {}, 'Waiting for 2 pods to be ready...\n'],
  [
    { readyReplicas: 3, updatedReplicas: 1 },
    partitioned(1),
    'Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...\n',
  ],
  [{ readyReplicas: 3, updatedReplicas: 2 }, partitioned(1), 'partitioned roll out complete: 2 new pods have been updated...\n'],
  [
    { readyReplicas: 3, updatedReplicas: 2, currentRevision: 'a', updateRevision: 'b' },
    {},
    'waiting for statefulset rolling update to complete 2 pods at revision b...\n',
  ],
  [
    { readyReplicas: 3, currentReplicas: 3, currentRevision: 'b', updateRevision: 'b' },
    {},
    'statefulset rolling update complete 3 pods at revision b...\n',
  ],
])('stateful set %j %j', (status, spec, text) => {
  expect(line('StatefulSet', status, spec)).toBe(text);
});

test('other strategies have no status, other kinds no rollout', () => {
  const spec = { updateStrategy: { type: 'OnDelete' } };
  for (const kind of ['DaemonSet', 'StatefulSet'])
    expect(() => line(kind, {}, spec)).toThrow('rollout status is only available for RollingUpdate strategy type');
  expect(progressOf('Pod', workload({}), 0, () => 0)).toBeUndefined();
});
