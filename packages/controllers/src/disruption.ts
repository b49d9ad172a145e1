/**
 * The status of PodDisruptionBudgets: how many pods are expected, how many are healthy, and so how many may be evicted now.
 * For percentages the expected number comes from the controllers of the pods.
 */

import { pathOf, resourceKey } from '@plat-dev/client/dynamic';
import { isNotFound, unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '@plat-dev/kinds/policy/schema/v1';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { own, setOwn } from '@plat-dev/lib/own';
import { noLabel } from '@plat-dev/meta/labels';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { builtin, type Controller, type ControllerContext } from './runtime/controller.ts';
import { type SlimPod, slimPods } from './runtime/pods.ts';
import { SelectorIndex, selectedBy } from './runtime/selector-index.ts';

type Status = Part<PodDisruptionBudgetStatus>;
export type Budget = Wire<PodDisruptionBudget>;
type Scalable = Wire<Scale>;

/** A pod that was evicted and still exists after this time is no longer counted as evicted. */
const EVICTION_MS = 2 * 60_000;

/** `2` or `30%` of a number, rounded up. Throws for any other text. */
export function shareOf(value: number | string, of: number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  if (match === null) throw new Error(`invalid value for IntOrString: invalid type: string is not a percentage`);
  return Math.ceil((Number(match[1]) * of) / 100);
}

const needsScale = ({ spec }: Budget): boolean => spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';

/** The status of a budget. `expected` is the expected number of pods. */
export function budgetStatus(budget: Budget, pods: readonly SlimPod[], expected: number, now: number): Status {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const desired =
    maxUnavailable !== undefined
      ? expected - shareOf(maxUnavailable, expected)
      : minAvailable !== undefined
        ? shareOf(minAvailable, expected)
        : 0;
  const desiredHealthy = Math.max(desired, 0);
  const disruptedPods = stillDisrupted(budget.status?.disruptedPods ?? {}, pods, now);
  const healthy = pods.filter(({ metadata, status }) => {
    const name = metadata.name ?? '';
    return metadata.deletionTimestamp === undefined && status.ready && own(disruptedPods, name) === undefined;
  });
  const allowed = expected <= 0 ? 0 : Math.max(healthy.length - desiredHealthy, 0);
  const reason = allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  return {
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    ...withCondition(budget, { status: allowed > 0 ? 'True' : 'False', reason, message: '' }, now),
    disruptionsAllowed: allowed,
    currentHealthy: healthy.length,
    desiredHealthy,
    expectedPods: expected,
  };
}

/** The numbers are not known: nothing may be evicted. */
function failedStatus(budget: Budget, message: string, now: number): Status {
  const currentStatus = budget.status ?? { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return { ...currentStatus, disruptionsAllowed: 0, ...withCondition(budget, { status: 'False', reason: 'SyncFailed', message }, now) };
}

function withCondition({ metadata, status }: Budget, newCondition: { status: string; reason: string; message: string }, now: number) {
  const type = 'DisruptionAllowed';
  const old = (status?.conditions ?? []).find((condition) => condition.type === type);
  const observedGeneration = metadata.generation ?? 0;
  const lastTransitionTime = old?.status === newCondition.status ? old.lastTransitionTime : formatTime(now);
  const others = (status?.conditions ?? []).filter((condition) => condition.type !== type);
  return { observedGeneration, conditions: [...others, { type, ...newCondition, observedGeneration, lastTransitionTime }] };
}

function stillDisrupted(disrupted: Readonly<Record<string, string>>, pods: readonly SlimPod[], now: number): Record<string, string> {
  const remaining: Record<string, string> = {};
  for (const { metadata } of pods) {
    const since = own(disrupted, metadata.name ?? '');
    if (since === undefined || metadata.deletionTimestamp !== undefined || timeMillis(since) + EVICTION_MS < now) continue;
    setOwn(remaining, metadata.name ?? '', since);
  }
  return remaining;
}

export const disruptionController: Controller = {
  name: 'disruption',
  account: 'disruption-controller',
  start(context) {
    const { informers, queue, client, identity, clock } = context;
    const ref = builtin(identity, 'policy', 'v1', 'poddisruptionbudgets');
    const budgets = informers.of<Budget>(ref);
    let pods: Informer<SlimPod> | undefined;
    const selecting = new SelectorIndex(budgets, ({ spec }) => spec?.selector);
    const look = (budget: Budget): void => work.add(keyOf(budget));
    /** Pods are watched from the first budget on. */
    const followPods = (): Informer<SlimPod> => {
      if (pods !== undefined) return pods;
      pods = slimPods(informers);
      pods.onChange(({ object: { metadata }, old }) => {
        const { namespace = '', labels } = metadata;
        selecting.forLabels(namespace, labels, look);
        if (old !== undefined && !equal(old.metadata.labels, labels)) selecting.forLabels(namespace, old.metadata.labels, look);
      });
      return pods;
    };
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const all = followPods();
        await all.synced;
        const budget = budgets.get(namespace, name);
        if (budget === undefined) return;
        const selector = selecting.selectorOf(budget) ?? noLabel;
        const selected = await selectedBy(selector, all.list(namespace));
        const status = await statusOf(context, budget, selected);
        if (!equal(status, budget.status)) await client.update(ref, { ...budget, status } as Budget, 'status').catch(unlessGone);
        const ends = Object.values(status.disruptedPods ?? {}).map((since) => timeMillis(since) + EVICTION_MS - clock.now() + 1);
        return ends.length === 0 ? undefined : Math.min(...ends);
      },
      { after: [budgets.synced] },
    );
    budgets.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};

async function statusOf(context: ControllerContext, budget: Budget, pods: readonly SlimPod[]): Promise<Status> {
  const now = context.clock.now();
  let expected = pods.length;
  if (needsScale(budget)) {
    try {
      expected = await expectedPods(context, pods);
    } catch (error) {
      if (!(error instanceof NoController)) throw error;
      return failedStatus(budget, error.message, now);
    }
  }
  try {
    return budgetStatus(budget, pods, expected, now);
  } catch (error) {
    return failedStatus(budget, (error as Error).message, now);
  }
}

class NoController extends Error {}

/** The sum of the replicas of all controllers of these pods. Pods without a controller do not count. */
async function expectedPods(context: ControllerContext, pods: readonly SlimPod[]): Promise<number> {
  const scales = new Map<string, Promise<{ uid: string; replicas: number } | undefined>>();
  const podsByOwner = new Map<string, number>();
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.[0];
    if (owner === undefined) continue;
    let scale = scales.get(owner.uid);
    if (scale === undefined) {
      scale = scaleOf(context, pod.metadata.namespace ?? '', owner);
      scales.set(owner.uid, scale);
    }
    const { uid, replicas } = (await scale) ?? {};
    if (uid === undefined) throw new NoController(`found no controllers for pod ${JSON.stringify(pod.metadata.name ?? '')}`);
    podsByOwner.set(uid, replicas ?? 0);
  }
  return [...podsByOwner.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** The top-level controller of the pods: of a replica set that belongs to a deployment, the deployment. */
async function scaleOf(
  context: ControllerContext,
  namespace: string,
  owner: OwnerReference,
): Promise<{ uid: string; replicas: number } | undefined> {
  const { client, served } = context;
  const resource = await served.resourceOf(owner.apiVersion, owner.kind);
  if (resource === undefined) return undefined;
  const isReplicaSet = resourceKey(resource) === 'replicasets.apps';
  let scale: Scalable | undefined;
  try {
    scale = await client.json<Scalable>({ path: pathOf(resource, namespace, owner.name, isReplicaSet ? undefined : 'scale') });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (scale?.metadata.uid !== owner.uid) return undefined;
  const above = isReplicaSet ? scale.metadata.ownerReferences?.find((one) => one.controller === true) : undefined;
  if (above?.kind === 'Deployment') return scaleOf(context, namespace, above);
  return { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 };
}
