/** Workloads that are not ready. */
import type { Loose } from '../../support/server.ts';
import { type Case, container, owner, type Question, type World } from '../world.ts';
import { core, event, node, podOn, ready, running, selector, template, waiting } from './objects.ts';

export async function replicaSet(world: World, status: object = {}, metadata: object = {}): Promise<Loose> {
  const spec = { replicas: 1, selector, template };
  return world.put('replicasets', {
    metadata: { name: 'web-1', ...metadata },
    spec,
    status: { replicas: 1, observedGeneration: 1, ...status },
  });
}
/** A deployment, its replica set and the pod of that. */
export async function deployment(world: World, statuses: object[], spec: object = {}, status: object = {}): Promise<Question> {
  await world.put('nodes', node('n1'));
  const parent = await world.put('deployments', {
    metadata: { name: 'web' },
    spec: { replicas: 1, selector, template, ...spec },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, ...status },
  });
  const set = await replicaSet(world, {}, { ownerReferences: [owner(parent, { controller: true })] });
  await world.put('pods', podOn('web-1-x', statuses, { metadata: { ownerReferences: [owner(set, { controller: true })] } }));
  return { group: 'apps', resource: 'deployments', namespace: world.ns, name: 'web' };
}
const apps = (world: World, resource: string, name: string): Question => ({ group: 'apps', ...core(world, resource, name) });
/** A replica set without pods, as their creation fails. */
async function refused(world: World, message: string): Promise<Question> {
  await replicaSet(world, { replicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }] });
  return apps(world, 'replicasets', 'web-1');
}
const statefulSet = (spec: object = {}, status: object = {}): Loose => ({
  metadata: { name: 'db' },
  spec: { serviceName: 'db', selector, template, ...spec },
  status: { observedGeneration: 1, replicas: 0, ...status },
});
const job = (spec: object = {}, status: object = {}): Loose => ({
  metadata: { name: 'load' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } }, ...spec },
  status,
});
const readyPod = (name: string, parent: Loose): Loose =>
  podOn(name, [running({ ready: true })], {
    metadata: { ownerReferences: [owner(parent, { controller: true })] },
    status: { conditions: ready },
  });

export const workloadCases: readonly Case[] = [
  {
    title: 'a deployment whose image cannot be pulled',
    make: (world) => deployment(world, [waiting('ErrImagePull')], {}, {}),
    reason: 'ImagePull',
    message: /^The image registry.test\/app:1 of the container main cannot be pulled \(ErrImagePull\).$/,
    command: /^describe pods\/web-1-x -n /,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a deployment whose container crashes',
    make: (world) =>
      deployment(world, [waiting('CrashLoopBackOff', { restartCount: 4, lastState: { terminated: { exitCode: 3, reason: 'Error' } } })]),
    reason: 'Crash',
    message: /^The container main ends with exit code 3, 4 times so far.$/,
    command: /^logs web-1-x -n \S+ -c main --previous$/,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a container that needs more memory than its limit',
    make: (world) =>
      deployment(world, [waiting('CrashLoopBackOff', { lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } })]),
    reason: 'OutOfMemory',
    message: /^The container main used more memory than its limit and was killed.$/,
    command: /./,
  },
  {
    title: 'a rollout that is paused',
    make: (world) =>
      deployment(world, [running({ ready: true })], { paused: true }, { updatedReplicas: 0, readyReplicas: 1, availableReplicas: 1 }),
    reason: 'Paused',
    message: /^Its rollout is paused.$/,
    command: /^rollout resume deployments\/web -n /,
  },
  {
    title: 'a deployment that no controller has seen',
    make: async (world) => {
      await world.put('deployments', { metadata: { name: 'web' }, spec: { selector, template } });
      return apps(world, 'deployments', 'web');
    },
    reason: 'NotObserved',
    message: /^Its controller has not looked at its newest spec/,
    command: /./,
  },
  {
    title: 'pods that a quota refuses',
    make: (world) => refused(world, 'pods "web-1-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0'),
    reason: 'QuotaExceeded',
    message: /^Its pods are refused: .*exceeded quota: small/,
    command: /^describe resourcequotas -n /,
  },
  {
    title: 'pods of a stateful set that a webhook refuses, by the newest event',
    make: async (world) => {
      const set = await world.put('statefulsets', statefulSet());
      await event(world, set, 'FailedCreate', 'create Pod db-0 failed: admission webhook "guard.example.com" denied the request: no');
      return apps(world, 'statefulsets', 'db');
    },
    reason: 'WebhookRefuses',
    message: /guard.example.com/,
    command: /^describe statefulsets\/db -n /,
  },
  {
    title: 'a stateful set: the first of its pods that is not ready',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      const set = await world.put('statefulsets', statefulSet({ replicas: 3 }, { replicas: 2, readyReplicas: 1 }));
      const metadata = { ownerReferences: [owner(set, { controller: true })] };
      await world.put('pods', podOn('db-1', [waiting('ErrImagePull')], { metadata }));
      await world.put('pods', podOn('db-0', [running({ ready: true })], { metadata, status: { conditions: ready } }));
      return apps(world, 'statefulsets', 'db');
    },
    reason: 'ImagePull',
    message: /./,
    command: /./,
    chain: 'statefulsets/db → pods/db-1',
  },
  {
    title: 'a daemon set that no node matches',
    make: async (world) => {
      const status = { observedGeneration: 1, currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
      await world.put('daemonsets', { metadata: { name: 'agent' }, spec: { selector, template }, status });
      return apps(world, 'daemonsets', 'agent');
    },
    reason: 'NoNodesMatch',
    message: /^No node matches its selector and tolerations.$/,
    command: /^get nodes --show-labels$/,
  },
  {
    title: 'a job that has failed: how its last pod ended',
    make: async (world) => {
      const message = 'Job has reached the specified backoff limit';
      const conditions = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message }];
      const stored = await world.put('jobs', job({}, { failed: 1, conditions }));
      const metadata = { ownerReferences: [owner(stored, { controller: true })] };
      const ended = running({ state: { terminated: { exitCode: 2 } } });
      await world.put('pods', podOn('load-x', [ended], { metadata, spec: { restartPolicy: 'Never' }, status: { phase: 'Failed' } }));
      return { group: 'batch', resource: 'jobs', namespace: world.ns, name: 'load' };
    },
    reason: 'Crash',
    message: /^The container main ends with exit code 2.$/,
    command: /^logs load-x -n \S+ -c main$/,
    chain: 'jobs/load → pods/load-x',
  },
  {
    title: 'a job that is suspended',
    make: async (world) => {
      await world.put('jobs', job({ suspend: true }));
      return { group: 'batch', resource: 'jobs', namespace: world.ns, name: 'load' };
    },
    reason: 'Suspended',
    message: /^It is suspended.$/,
    command: /^patch jobs\/load -n \S+ -p /,
  },
  {
    title: 'a budget that is used up',
    make: async (world) => {
      const status = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 };
      await world.put('poddisruptionbudgets', { metadata: { name: 'web' }, spec: { minAvailable: 1, selector }, status });
      return { group: 'policy', resource: 'poddisruptionbudgets', namespace: world.ns, name: 'web' };
    },
    reason: 'BudgetUsed',
    message: /^It allows no disruption: 1 of 2 pods are healthy, and 1 must be.$/,
    command: /./,
  },
  {
    title: 'pods that a limit range refuses',
    make: (world) => refused(world, 'pods "web-1-" is forbidden: maximum cpu usage per Container is 1, but limit is 2'),
    reason: 'LimitRange',
    message: /^Its pods are refused: /,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods whose limit a limit range finds too far from their request',
    make: (world) =>
      refused(world, 'pods "web-1-" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000'),
    reason: 'LimitRange',
    message: /^Its pods are refused: /,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods that violate a pod security standard',
    make: (world) => refused(world, 'pods "web-1-" is forbidden: violates PodSecurity "restricted:latest": privileged'),
    reason: 'PodSecurity',
    message: /^Its pods are refused: /,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods whose service account is missing',
    make: (world) =>
      refused(world, 'pods "web-1-" is forbidden: error looking up service account team/robot: serviceaccount "robot" not found'),
    reason: 'ServiceAccountMissing',
    message: /^Its pods are refused: /,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods that are refused for a reason that is not known',
    make: (world) => refused(world, 'Pod "web-1-x" is invalid: spec.containers: Required value'),
    reason: 'PodRefused',
    message: /^Its pods are refused: /,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods that nobody creates',
    make: async (world) => {
      await replicaSet(world, { replicas: 0 });
      return apps(world, 'replicasets', 'web-1');
    },
    reason: 'PodsMissing',
    message: /^It has 0 of 1 pods, and its controller has not created the others/,
    command: /^describe replicasets\/web-1 -n /,
  },
  {
    title: 'pods that are ready and not yet available',
    make: async (world) => {
      await world.put('pods', readyPod('web-1-x', await replicaSet(world, { readyReplicas: 1 })));
      return apps(world, 'replicasets', 'web-1');
    },
    reason: 'WaitsForAvailability',
    message: /^0 of 1 pods are available; ready pods count after minReadySeconds.$/,
    command: /^get replicasets\/web-1 -n \S+ --watch$/,
  },
  {
    title: 'a rollout that makes no progress, without a replica set',
    make: async (world) => {
      const message = 'ReplicaSet "web-1" has timed out progressing.';
      const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message }];
      await world.put('deployments', {
        metadata: { name: 'web' },
        spec: { selector, template },
        status: { observedGeneration: 1, conditions },
      });
      return apps(world, 'deployments', 'web');
    },
    reason: 'ProgressDeadlineExceeded',
    message: /^ReplicaSet "web-1" has timed out progressing.$/,
    command: /^rollout undo deployments\/web -n /,
  },
  {
    title: 'a rollout that goes on',
    make: async (world) => {
      await world.put('deployments', { metadata: { name: 'web' }, spec: { selector, template }, status: { observedGeneration: 1 } });
      return apps(world, 'deployments', 'web');
    },
    reason: 'RolloutInProgress',
    message: /^Its rollout is in progress: 0 of 1 replicas are updated, 0 available.$/,
    command: /^rollout status deployments\/web -n /,
  },
  {
    title: 'a stateful set whose old pods stay until they are deleted',
    make: async (world) => {
      const status = { replicas: 1, readyReplicas: 1, currentRevision: 'db-1', updateRevision: 'db-2' };
      const set = await world.put('statefulsets', statefulSet({ updateStrategy: { type: 'OnDelete' } }, status));
      await world.put('pods', readyPod('db-0', set));
      return apps(world, 'statefulsets', 'db');
    },
    reason: 'OnDelete',
    message: /^Pods of its old revision are replaced when they are deleted/,
    command: /^get pods -n \S+ -L controller-revision-hash$/,
  },
  {
    title: 'a job that took too long',
    make: async (world) => {
      const message = 'Job was active longer than specified deadline';
      const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message }];
      await world.put('jobs', job({}, { conditions }));
      return { group: 'batch', ...core(world, 'jobs', 'load') };
    },
    reason: 'DeadlineExceeded',
    message: /^It has failed: Job was active longer than specified deadline.$/,
    command: /^describe jobs\/load -n /,
  },
  {
    title: 'a job whose pods run',
    make: async (world) => {
      await world.put('pods', readyPod('load-x', await world.put('jobs', job({}, { active: 1 }))));
      return { group: 'batch', ...core(world, 'jobs', 'load') };
    },
    reason: 'JobRuns',
    message: /^Its pods run and have not ended yet.$/,
    command: /^logs jobs\/load -n /,
  },
];
