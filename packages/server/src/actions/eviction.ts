/**
 * pods/eviction: deletes a pod if its PodDisruptionBudget allows that. The budget is charged in the same
 * commit as the deletion, so that two evictions never share one allowance, and a failed one costs nothing.
 */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Condition } from '@plat-dev/kinds/meta';
import { Status } from '@plat-dev/kinds/meta-kinds';
import type { Eviction, PodDisruptionBudget } from '@plat-dev/kinds/policy/schema/v1';
import type { Work } from '@plat-dev/lib/slices';
import { badRequest, evictionRefused, forbidden, unprocessable } from '@plat-dev/meta/errors';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { formatTime } from '@plat-dev/meta/time';
import type { MessageType } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';
import { admissionChain } from '../admission/chain.ts';
import type { SideWrite } from '../admission/types.ts';
import { admissionRequest } from '../registry/commit.ts';
import type { RegistryDeps, WriteContext } from '../registry/context.ts';
import { remove } from '../registry/remove.ts';
import { sharedObject } from '../registry/versions.ts';
import { checkDeleteOptions } from '../request/options.ts';
import type { Action } from '../services.ts';

/** Maximum evictions that the controller of the budget has not yet seen; more would make its object too large. */
const MAX_DISRUPTED_PODS = 2000;
/** Retry-After while a new budget has no status yet. */
const PROCESSING_SECONDS = 10;

/** The server itself deletes the pod; admission has allowed the eviction. */
const noAdmission = admissionChain([]);

export function eviction(deps: RegistryDeps): Action {
  const quiet: RegistryDeps = { ...deps, admission: noAdmission };
  return async ({ write, body }) => {
    const evictionBody = body as ApiObject & Eviction;
    if (evictionBody.metadata.name !== write.name) throw badRequest('name in URL does not match name in Eviction object');
    const options = evictionBody.deleteOptions ?? {};
    const dryRun = write.dryRun || (options.dryRun ?? []).length > 0;
    const target: WriteContext = { ...write, subresource: '', dryRun };
    await admit(deps, write, evictionBody);
    await deps.catalog.builtin('policy', 'poddisruptionbudgets').collection?.pending?.();
    await remove(quiet, target, options, function* (object) {
      const charged = yield* charge(deps, target, object as ApiObject & Pod);
      // The error of an exhausted budget takes precedence over that of invalid options.
      checkDeleteOptions(deps.catalog, options);
      return charged;
    });
    const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    return { status: 201, object, schema: Status as MessageType };
  };
}

async function admit(deps: RegistryDeps, write: WriteContext, evictionBody: ApiObject): Promise<void> {
  const objectKind = { group: 'policy', version: 'v1', kind: 'Eviction' };
  const request = { ...admissionRequest(write, 'CREATE', evictionBody, undefined), objectKind };
  await deps.admission.admit(request);
  await deps.admission.validate(request);
}

/** The budget of the pod, with one disruption less allowed. Throws if there is none left. */
function* charge(deps: RegistryDeps, target: WriteContext, pod: ApiObject & Pod): Work<SideWrite[]> {
  if (needsNoBudget(pod)) return [];
  const budget = yield* budgetOf(deps, target.namespace, pod);
  if (budget === undefined) return [];
  const { currentHealthy, desiredHealthy } = budget.status;
  // A pod that is not ready does not count for the budget.
  if (!isReady(pod) && (isUnconditional(deps, budget) || (currentHealthy >= desiredHealthy && desiredHealthy > 0))) return [];
  spend(deps, budget, target.name);
  return [{ group: 'policy', plural: 'poddisruptionbudgets', object: budget }];
}

/** Budgets may let all pods go that are not ready. */
const isUnconditional = ({ env }: RegistryDeps, { spec }: PodDisruptionBudget): boolean =>
  env.since('1.26') && env.feature('PDBUnhealthyPodEvictionPolicy') && spec.unhealthyPodEvictionPolicy === 'AlwaysAllow';

/** A pod that is pending, finished or terminating. */
function needsNoBudget({ metadata, status }: Pod): boolean {
  const { phase = '' } = status;
  return phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined;
}
const isReady = ({ status }: Pod): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** A private copy of the one budget whose selector matches the pod. */
function* budgetOf(deps: RegistryDeps, namespace: string, pod: Pod): Work<PodDisruptionBudget | undefined> {
  const resource = deps.catalog.builtin('policy', 'poddisruptionbudgets');
  const fitting: Item[] = [];
  for (const item of resource.collection?.items.withPrefix(`${namespace}/`) ?? []) {
    const { spec } = sharedObject(item) as PodDisruptionBudget;
    if (fromLabelSelector(spec.selector).matches(pod.metadata.labels)) fitting.push(item);
    yield;
  }
  if (fitting.length > 1)
    throw unprocessable('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  const [item] = fitting;
  return item === undefined ? undefined : (resource.versions.decodeNow(item) as PodDisruptionBudget);
}

function spend(deps: RegistryDeps, budget: PodDisruptionBudget, pod: string): void {
  const { metadata, status } = budget;
  const { name = '', generation = 0 } = metadata;
  const refuse = (why: string) => forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if ((status.observedGeneration ?? 0) < generation)
    throw evictionRefused(`The disruption budget ${name} is still being processed by the server.`, PROCESSING_SECONDS);
  if (status.disruptionsAllowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS)
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (status.disruptionsAllowed === 0)
    throw evictionRefused(
      `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`,
    );
  const now = formatTime(deps.env.now());
  status.disruptionsAllowed--;
  status.disruptedPods = { ...status.disruptedPods, [pod]: now };
  if (status.disruptionsAllowed === 0) reportExhausted(status, now);
}

function reportExhausted(status: PodDisruptionBudget['status'], now: string): void {
  const type = 'DisruptionAllowed';
  const conditions = status.conditions ?? [];
  const existing = conditions.find((condition) => condition.type === type);
  const condition: Condition = {
    type,
    status: 'False',
    observedGeneration: status.observedGeneration ?? 0,
    lastTransitionTime: existing?.status === 'False' ? existing.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  status.conditions = existing === undefined ? [...conditions, condition] : conditions.map((one) => (one === existing ? condition : one));
}
