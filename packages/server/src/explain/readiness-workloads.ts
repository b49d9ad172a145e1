/** Why workloads are not ready: refused pods, pods that are not ready, and rollouts that stand still. */
import type { DaemonSet } from '@plat-dev/kinds/apps/schema/daemon-set';
import type { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import type { ReplicaSet } from '@plat-dev/kinds/apps/schema/replica-set';
import type { StatefulSet } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { Job } from '@plat-dev/kinds/batch/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { PodDisruptionBudget } from '@plat-dev/kinds/policy/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Resource } from '../registry/catalog.ts';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, isEnough, sentence } from './cause.ts';
import { behind, conditionsOf, notObserved } from './conditions.ts';
import type { Readiness } from './readiness-question.ts';
import { type Reason, reportedReason } from './reasons.ts';
import { lastWarning } from './warnings.ts';

/** Pods of a workload whose causes are looked up. */
const MOST_PODS = 5;

/** Objects of one kind that another controls. */
async function controlled({ view }: Readiness, target: Target, resource: Resource): Promise<{ targets: Target[]; isWhole: boolean }> {
  const { uid = '', namespace = '' } = target.object.metadata;
  const { objects, isWhole } = await view.list(resource, namespace, uid);
  const targets = objects
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true))
    .map((object) => ({ resource, object }));
  return { targets, isWhole };
}

/** Causes of the pods of a workload, and how many of them there are. */
async function podCauses(readiness: Readiness, target: Target) {
  const { targets, isWhole } = await controlled(readiness, target, readiness.view.builtin('', 'pods'));
  const pods = targets.filter(({ object }) => !isOver(object));
  const causes: Cause[] = [];
  for (const pod of pods.sort(byName)) {
    await readiness.view.pause();
    causes.push(...(await readiness.of(pod, target)));
    if (new Set(causes.map(({ object }) => object?.name)).size >= MOST_PODS) break;
  }
  return { causes, count: pods.length, isWhole, ended: targets.filter(({ object }) => isOver(object)) };
}
const isOver = (object: ApiObject): boolean =>
  ['Succeeded', 'Failed'].includes((object as { status?: { phase?: string } }).status?.phase ?? '');
const byName = (a: Target, b: Target): number =>
  ordinalOf(a) - ordinalOf(b) || ((a.object.metadata.name ?? '') < (b.object.metadata.name ?? '') ? -1 : 1);
const ordinalOf = ({ object }: Target): number => Number(/-(\d+)$/.exec(object.metadata.name ?? '')?.[1] ?? 0);

const refusals: readonly (readonly [pattern: RegExp, reason: Reason])[] = [
  [/exceeded quota|failed quota/, 'QuotaExceeded'],
  [/(maximum|minimum) .* usage per|limit to request ratio per/, 'LimitRange'],
  [/violates PodSecurity|unable to validate against any pod security policy/, 'PodSecurity'],
  [/admission webhook|failed calling webhook/, 'WebhookRefuses'],
  [/serviceaccount ".*" not found|error looking up service account/, 'ServiceAccountMissing'],
];

/** Pods that could not be created, as the condition or the newest event of their controller says. */
async function refusedPods({ view }: Readiness, target: Target): Promise<Cause[]> {
  const failure = conditionsOf(target.object).find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  const message = failure?.message ?? (await lastWarning(view, target, ['FailedCreate']));
  if (message === undefined) return [];
  const [, reason = 'PodRefused'] = refusals.find(([pattern]) => pattern.test(message)) ?? [];
  const command =
    reason === 'QuotaExceeded' ? `describe resourcequotas -n ${target.object.metadata.namespace}` : commandOn('describe', target);
  return [causeOf(target, reason, sentence(`Its pods are refused: ${message}`), command)];
}

const missingPods = (target: Target, count: number, wanted: number): Cause =>
  causeOf(
    target,
    'PodsMissing',
    `It has ${count} of ${wanted} pods, and its controller has not created the others: it does not run, or is behind.`,
  );

export async function replicaSetCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec, status } = target.object as Wire<ReplicaSet>;
  const wanted = spec?.replicas ?? 1;
  const observed = notObserved(target);
  if (observed.length === 0 && (status?.availableReplicas ?? 0) >= wanted) return [];
  const { causes, count, isWhole } = await podCauses(readiness, target);
  if (count >= wanted || !isWhole)
    return [
      ...causes,
      ...observed,
      ...(causes.length + observed.length === 0 ? [unavailable(target, status?.availableReplicas, wanted)] : []),
    ];
  const refused = await refusedPods(readiness, target);
  return [
    ...refused,
    ...causes,
    ...observed,
    ...(refused.length + causes.length + observed.length === 0 ? [missingPods(target, count, wanted)] : []),
  ];
}
const unavailable = (target: Target, available = 0, wanted = 0): Cause =>
  causeOf(
    target,
    'WaitsForAvailability',
    `${available} of ${wanted} pods are available; ready pods count after minReadySeconds.`,
    commandOn('get', target, '--watch'),
  );

export async function deploymentCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec, status, metadata } = target.object as Wire<Deployment>;
  const wanted = spec?.replicas ?? 1;
  if (status?.observedGeneration === undefined) return [behind(target)];
  const observed = notObserved(target);
  const isUpdated = (status.updatedReplicas ?? 0) >= wanted && (status.replicas ?? 0) <= (status.updatedReplicas ?? 0);
  if (observed.length === 0 && isUpdated && (status.availableReplicas ?? 0) >= wanted) return [];
  const causes: Cause[] = [];
  if (spec?.paused === true && !isUpdated)
    causes.push(
      causeOf(target, 'Paused', 'Its rollout is paused.', `rollout resume deployments/${metadata.name} -n ${metadata.namespace}`),
    );
  const { targets } = await controlled(readiness, target, readiness.view.builtin('apps', 'replicasets'));
  for (const set of targets.sort(byAge)) {
    if (isEnough(causes)) break;
    causes.push(...(await readiness.of(set, target)));
  }
  causes.push(...observed);
  const progress = conditionsOf(target.object).find(({ type }) => type === 'Progressing');
  if (progress?.reason === 'ProgressDeadlineExceeded')
    causes.push(
      causeOf(
        target,
        'ProgressDeadlineExceeded',
        sentence(progress.message ?? 'Its rollout makes no progress'),
        `rollout undo deployments/${metadata.name} -n ${metadata.namespace}`,
      ),
    );
  if (causes.length > 0) return causes;
  const refused = await refusedPods(readiness, target);
  if (refused.length > 0) return refused;
  const message = `Its rollout is in progress: ${status.updatedReplicas ?? 0} of ${wanted} replicas are updated, ${status.availableReplicas ?? 0} available.`;
  return [causeOf(target, 'RolloutInProgress', message, `rollout status deployments/${metadata.name} -n ${metadata.namespace}`)];
}
/** The newest first: its pods are those that the rollout waits for. */
const byAge = (a: Target, b: Target): number =>
  String(b.object.metadata.creationTimestamp).localeCompare(String(a.object.metadata.creationTimestamp));

export async function statefulSetCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec, status, metadata } = target.object as Wire<StatefulSet>;
  const wanted = spec?.replicas ?? 1;
  const observed = status?.observedGeneration === undefined ? [behind(target)] : notObserved(target);
  const isUpdated = status?.updateRevision === undefined || status.updateRevision === status.currentRevision;
  if (observed.length === 0 && (status?.readyReplicas ?? 0) >= wanted && isUpdated) return [];
  const { causes, count, isWhole } = await podCauses(readiness, target);
  if (causes.length > 0) return [...causes, ...observed];
  if (count < wanted && isWhole) {
    const refused = await refusedPods(readiness, target);
    return refused.length > 0 ? refused : observed.length > 0 ? observed : [missingPods(target, count, wanted)];
  }
  if (observed.length > 0) return observed;
  if (!isUpdated && spec?.updateStrategy?.type === 'OnDelete')
    return [
      causeOf(
        target,
        'OnDelete',
        'Pods of its old revision are replaced when they are deleted (updateStrategy OnDelete).',
        `get pods -n ${metadata.namespace} -L controller-revision-hash`,
      ),
    ];
  return [unavailable(target, status?.readyReplicas, wanted)];
}

export async function daemonSetCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { status } = target.object as Wire<DaemonSet>;
  const wanted = status?.desiredNumberScheduled ?? 0;
  const observed = status?.observedGeneration === undefined ? [behind(target)] : notObserved(target);
  if (observed.length > 0) return observed;
  if (wanted === 0) return [causeOf(target, 'NoNodesMatch', 'No node matches its selector and tolerations.', 'get nodes --show-labels')];
  if ((status?.numberAvailable ?? 0) >= wanted) return [];
  const { causes, count, isWhole } = await podCauses(readiness, target);
  const refused = count < wanted && isWhole ? await refusedPods(readiness, target) : [];
  if (refused.length + causes.length > 0) return [...refused, ...causes];
  return [count < wanted && isWhole ? missingPods(target, count, wanted) : unavailable(target, status?.numberAvailable, wanted)];
}

export async function jobCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec, metadata } = target.object as Wire<Job>;
  const conditions = conditionsOf(target.object);
  if (conditions.some(({ type, status }) => type === 'Complete' && status === 'True')) return [];
  if (spec?.suspend === true)
    return [
      causeOf(
        target,
        'Suspended',
        'It is suspended.',
        `patch jobs/${metadata.name} -n ${metadata.namespace} -p '{"spec":{"suspend":false}}'`,
      ),
    ];
  const { causes, count, ended } = await podCauses(readiness, target);
  const failed = conditions.find(({ type, status }) => type === 'Failed' && status === 'True');
  if (failed !== undefined) {
    const ofPods: Cause[] = [];
    for (const pod of ended.slice(-1)) ofPods.push(...(await readiness.of(pod, target)));
    return [
      ...ofPods,
      causeOf(target, reportedReason(failed.reason ?? 'Failed'), sentence(`It has failed${failed.message ? `: ${failed.message}` : ''}`)),
    ];
  }
  if (causes.length > 0) return causes;
  const refused = count === 0 ? await refusedPods(readiness, target) : [];
  if (refused.length > 0) return refused;
  return [
    count === 0
      ? missingPods(target, 0, spec?.parallelism ?? 1)
      : causeOf(target, 'JobRuns', 'Its pods run and have not ended yet.', `logs jobs/${metadata.name} -n ${metadata.namespace}`),
  ];
}

export async function budgetCauses(_readiness: Readiness, target: Target): Promise<Cause[]> {
  const { status } = target.object as Wire<PodDisruptionBudget>;
  if ((status?.disruptionsAllowed ?? 0) > 0) return [];
  const message = `It allows no disruption: ${status?.currentHealthy ?? 0} of ${status?.expectedPods ?? 0} pods are healthy, and ${status?.desiredHealthy ?? 0} must be.`;
  return [causeOf(target, 'BudgetUsed', message)];
}
