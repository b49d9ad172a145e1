/**
 * Why an object is not ready: what each condition waits for, down the tree of the objects that it depends on, to the first cause.
 *
 *   Deployment web → ReplicaSet web-7d4 → Pod web-7d4-x → the image cannot be pulled
 *
 * A rule for a kind answers the causes that keep its object from being ready; none: it is ready.
 */
import type { CallersView, Target } from './callers-view.ts';
import { below, type Cause, explained } from './cause.ts';
import { claimCauses } from './claims.ts';
import { conditionCauses } from './conditions.ts';
import { explainPending, type PendingAnswer } from './pending.ts';
import { apiServiceCauses, definitionCauses, nodeReadiness } from './readiness-cluster.ts';
import { ingressCauses, serviceCauses } from './readiness-network.ts';
import { podReadiness } from './readiness-pods.ts';
import type { Readiness } from './readiness-question.ts';
import { budgetCauses, daemonSetCauses, deploymentCauses, jobCauses, replicaSetCauses, statefulSetCauses } from './readiness-workloads.ts';
import type { Scheduling } from './scheduling.ts';

export interface ReadinessAnswer {
  readonly ready: boolean;
  readonly causes: readonly Cause[];
}

type Rule = (readiness: Readiness, target: Target) => Promise<Cause[]>;

const rules: Readonly<Record<string, Rule>> = {
  '/pods': podReadiness,
  '/services': serviceCauses,
  '/nodes': nodeReadiness,
  '/persistentvolumeclaims': ({ view }, target) => claimCauses(view, target, false),
  '/replicationcontrollers': replicaSetCauses,
  'apps/deployments': deploymentCauses,
  'apps/replicasets': replicaSetCauses,
  'apps/statefulsets': statefulSetCauses,
  'apps/daemonsets': daemonSetCauses,
  'batch/jobs': jobCauses,
  'networking/ingresses': ingressCauses,
  'policy/poddisruptionbudgets': budgetCauses,
  'apiregistration/apiservices': apiServiceCauses,
  'apiextensions/customresourcedefinitions': definitionCauses,
};

/** Objects between the one that is asked about and the first cause. */
const MOST_LEVELS = 8;

export async function explainReadiness(view: CallersView, target: Target, scheduling: Scheduling): Promise<ReadinessAnswer> {
  const causes = await readinessCauses(view, target, scheduling, 0);
  return { ready: causes.length === 0, causes };
}

/** A pod, or the workload whose pods are pending or could not be created. */
export async function explainPendingOf(view: CallersView, target: Target, scheduling: Scheduling): Promise<PendingAnswer> {
  const { kind, custom } = target.resource;
  if (!custom && kind.group === '' && kind.plural === 'pods') return explainPending(view, target, scheduling);
  const causes = await readinessCauses(view, target, scheduling, 0);
  return { pending: causes.length > 0, causes, refusals: [] };
}

function readinessCauses(view: CallersView, target: Target, scheduling: Scheduling, level: number): Promise<Cause[]> {
  const { kind, custom } = target.resource;
  const rule = (custom ? undefined : new Map(Object.entries(rules)).get(`${kind.group}/${kind.plural}`)) ?? conditionCauses;
  const of: Readiness['of'] = async (other, dependent) =>
    level >= MOST_LEVELS ? [] : below(explained(dependent), await readinessCauses(view, other, scheduling, level + 1));
  return rule({ view, scheduling, of }, target);
}
