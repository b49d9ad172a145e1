/** What has to hold at every moment, whatever is changed. */
import { jsonText } from '../../../packages/lib/src/json-text.ts';
import { parseQuantity } from '../../../packages/lib/src/quantity.ts';
import { type Change, controllerOf, isActive, isOver, isReady, type Loose, type Recorder, type Rule } from './recorder.ts';

/** `2` or `30%` of a number. */
const shareOf = (value: number | string, of: number, round: (share: number) => number): number =>
  typeof value === 'number' ? value : round((Number.parseInt(value, 10) * of) / 100);
/** How many pods a deployment may have too many and too few; a rollout that may have neither is without one at a time. */
function limitsOf({ spec }: Loose): { desired: number; isRolling: boolean; surge: number; unavailable: number } {
  const desired = spec.replicas;
  const { maxSurge = 0, maxUnavailable = 0 } = spec.strategy.rollingUpdate ?? {};
  const [surge, unavailable] = [shareOf(maxSurge, desired, Math.ceil), shareOf(maxUnavailable, desired, Math.floor)];
  return { desired, isRolling: spec.strategy.type === 'RollingUpdate', surge, unavailable: surge + unavailable === 0 ? 1 : unavailable };
}

const timeOf = (text: string): number => Date.parse(text);
const readySince = ({ status }: Loose): number => timeOf(status.conditions.find(({ type }: Loose) => type === 'Ready').lastTransitionTime);
const isAvailable = (pod: Loose, minReadySeconds: number, time: number): boolean =>
  isActive(pod) && isReady(pod) && readySince(pod) + minReadySeconds * 1000 <= time;
const isNew = ({ plural, type }: Change): boolean => plural === 'pods' && type === 'ADDED';
/** Whether the pod begins to terminate, or is removed at once. */
const isRemoved = ({ plural, type, object, before }: Change): boolean =>
  plural === 'pods' &&
  before !== undefined &&
  before.metadata.deletionTimestamp === undefined &&
  (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined);
const ownedBy = (recorder: Recorder, uid: string): Loose[] => [...recorder.all('pods')].filter((pod) => controllerOf(pod)?.uid === uid);

function setsOf(recorder: Recorder, deployment: Loose): Loose[] {
  return [...recorder.all('replicasets')].filter((set) => controllerOf(set)?.uid === deployment.metadata.uid);
}
/** The deployment of a pod, if it has one that is not being deleted. */
function deploymentOf(recorder: Recorder, pod: Loose): Loose | undefined {
  const set = recorder.get('replicasets', controllerOf(pod)?.uid);
  const deployment = set && recorder.get('deployments', controllerOf(set)?.uid);
  return deployment?.metadata.deletionTimestamp === undefined ? deployment : undefined;
}

/** No set of replicas has more active pods than it was ever asked for since it acted last. */
const replicas: Rule = (change, recorder) => {
  if (!isNew(change)) return undefined;
  const { uid } = controllerOf(change.object) ?? {};
  const set = recorder.get('replicasets', uid) ?? recorder.get('replicationcontrollers', uid);
  if (set === undefined) return undefined;
  const active = ownedBy(recorder, uid).filter(isActive).length;
  const most = Math.max(...recorder.recent(set).map(({ spec }) => spec.replicas));
  return active > most ? `${active} pods of ${most}` : undefined;
};

/**
 * A set of a deployment grows only as far as the surge allows, and so do the pods of all its sets; where the limit was lowered, pods
 * that are lost until the sets shrink are replaced.
 */
const surge: Rule = (change, recorder) => {
  const { plural, type, object, before } = change;
  const isGrown = plural === 'replicasets' && type !== 'DELETED' && object.spec.replicas > (before?.spec.replicas ?? 0);
  if (!isGrown && !isNew(change)) return undefined;
  const deployment = isGrown ? recorder.get('deployments', controllerOf(object)?.uid) : deploymentOf(recorder, object);
  if (deployment === undefined) return undefined;
  const sets = setsOf(recorder, deployment);
  const total = (sizeOf: (set: Loose) => number): number => sets.reduce((sum, set) => sum + sizeOf(set), 0);
  const most = Math.max(
    ...recorder
      .recent(deployment)
      .map(limitsOf)
      .map(({ desired, surge }) => desired + surge),
  );
  const size = total(({ spec }) => spec.replicas);
  if (isGrown) return size > most ? `replica sets of ${size} pods, of at most ${most}` : undefined;
  const isLowered = total((set) => recorder.recent(set)[0].spec.replicas) > most;
  const allowed = isLowered ? total((set) => Math.max(...recorder.recent(set).map(({ spec }) => spec.replicas))) : most;
  const active = sets.flatMap(({ metadata }) => ownedBy(recorder, metadata.uid)).filter(isActive).length;
  return active > Math.max(most, allowed) ? `${active} pods of at most ${most}` : undefined;
};

/** A deployment that recreates its pods gives a set its size when all pods of the others have ended. */
const recreate: Rule = ({ plural, type, object, before }, recorder) => {
  const isGrown = plural === 'replicasets' && type !== 'DELETED' && object.spec.replicas > 0 && (before?.spec.replicas ?? 0) === 0;
  const deployment = isGrown ? recorder.get('deployments', controllerOf(object)?.uid) : undefined;
  if (deployment === undefined || recorder.isNoisy) return undefined;
  const states = recorder.recent(deployment);
  if (states.some(({ spec }) => spec.strategy.type !== 'Recreate' || spec.paused === true)) return undefined;
  // Another size is given to the newest set at once.
  if (new Set(states.map(({ spec }) => spec.replicas)).size > 1) return undefined;
  const others = setsOf(recorder, deployment).filter(({ metadata }) => metadata.uid !== object.metadata.uid);
  const open = others.flatMap(({ metadata }) => ownedBy(recorder, metadata.uid)).find((pod) => !isOver(pod));
  return open === undefined ? undefined : `${open.metadata.name} of another template runs`;
};

/** The controllers of a deployment remove no available pod that it needs. */
const unavailable: Rule = (change, recorder) => {
  if (!isRemoved(change) || recorder.isNoisy || !recorder.deletedBy(change.object.metadata.name, 'replicaset-controller')) return undefined;
  const { before, time } = change;
  const deployment = deploymentOf(recorder, before);
  if (deployment === undefined) return undefined;
  const states = recorder.recent(deployment);
  // A scaling during a rollout keeps the proportions of the sets, whatever is available.
  if (new Set(states.map(({ spec }) => spec.replicas)).size > 1) return undefined;
  const limits = states.map(limitsOf);
  if (limits.some(({ isRolling }) => !isRolling)) return undefined;
  const minReady = Math.max(...states.map(({ spec }) => spec.minReadySeconds ?? 0));
  if (!isAvailable(before, minReady, time)) return undefined;
  const pods = setsOf(recorder, deployment).flatMap(({ metadata }) => ownedBy(recorder, metadata.uid));
  const left = pods.filter((pod) => isAvailable(pod, minReady, time)).length;
  // Which of the ready pods of a set goes does not depend on how long each was ready.
  const { uid } = controllerOf(before) as Loose;
  if (pods.some((pod) => controllerOf(pod)?.uid === uid && isActive(pod) && isReady(pod) && !isAvailable(pod, minReady, time)))
    return undefined;
  const least = Math.min(...limits.map(({ desired, unavailable }) => desired - unavailable));
  return left < least ? `${left} pods are available of at least ${least}` : undefined;
};

const ordinalOf = ({ metadata }: Loose): number => Number(/-(\d+)$/.exec(metadata.name)?.[1]);
const revisionOf = ({ metadata }: Loose): string => metadata.labels['controller-revision-hash'];

/** Members of an ordered set come one after another, go from the last one down, and are updated one at a time from the last one down. */
const order: Rule = (change, recorder) => {
  const { object, time } = change;
  const set = recorder.get('statefulsets', controllerOf(object)?.uid);
  if (set === undefined) return undefined;
  const states = recorder.recent(set);
  const isOrdered = set.spec.podManagementPolicy === 'OrderedReady';
  const minReady = Math.max(...states.map(({ spec }) => spec.minReadySeconds ?? 0));
  const others = ownedBy(recorder, set.metadata.uid).filter(({ metadata }) => metadata.name !== object.metadata.name);
  const ordinal = ordinalOf(object);
  const isWell = (pod: Loose): boolean => isAvailable(pod, minReady, time);
  if (isNew(change)) {
    if (ordinal >= Math.max(...states.map(({ spec }) => spec.replicas))) return `a member beyond ${set.spec.replicas}`;
    if (!isOrdered || recorder.isNoisy) return undefined;
    for (let lower = 0; lower < ordinal; lower++) {
      const pod = others.find((one) => ordinalOf(one) === lower);
      if (pod === undefined || !isWell(pod)) return `member ${lower} is not there or not available`;
    }
  }
  if (!isRemoved(change) || recorder.isNoisy || !recorder.deletedBy(object.metadata.name, 'statefulset-controller')) return undefined;
  if (isOver(change.before)) return undefined;
  const higher = others.filter((pod) => ordinalOf(pod) > ordinal);
  const isSurplus = states.some(({ spec }) => ordinal >= spec.replicas);
  if (isSurplus) return isOrdered && higher.length > 0 ? `member ${ordinalOf(higher[0])} is still there` : undefined;
  const partition = Math.min(...states.map(({ spec }) => spec.updateStrategy.rollingUpdate?.partition ?? 0));
  if (ordinal < partition) return `a member below the partition ${partition}`;
  if (states.every(({ spec }) => spec.updateStrategy.type === 'OnDelete')) return 'members are not updated on their own';
  if (revisionOf(object) === set.status.updateRevision && states.length === 1) return 'a member that is new';
  const sick = higher.find((pod) => !isWell(pod));
  return sick === undefined ? undefined : `member ${ordinalOf(sick)} is not available`;
};

/** No more pods of a job are active than it wants, and none succeeds that it has no use for. */
class Jobs {
  private readonly succeeded = new Map<string, Map<string, string>>();
  readonly rule: Rule = (change, recorder) => {
    const { object, plural } = change;
    if (plural !== 'pods') return undefined;
    const job = recorder.get('jobs', controllerOf(object)?.uid);
    if (job === undefined) return undefined;
    const { uid } = job.metadata;
    const done = this.succeeded.get(uid) ?? new Map<string, string>();
    this.succeeded.set(uid, done);
    const isIndexed = job.spec.completionMode === 'Indexed';
    // Pods without a finalizer are counted as long as they are there.
    const isTracked = job.metadata.annotations?.['batch.kubernetes.io/job-tracking'] !== undefined;
    const index = object.metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
    if (object.status.phase === 'Succeeded' && !done.has(object.metadata.uid)) {
      if (isTracked && isIndexed && [...done.values()].includes(index)) return `index ${index} succeeds again`;
      done.set(object.metadata.uid, index);
      if (isTracked && done.size > job.spec.completions) return `${done.size} pods succeed of ${job.spec.completions}`;
    }
    if (!isNew(change)) return undefined;
    const states = recorder.recent(job);
    if (states.every(({ spec }) => spec.suspend === true)) return 'a pod of a job that is suspended';
    const active = ownedBy(recorder, uid).filter(isActive);
    const parallelism = Math.max(...states.map(({ spec }) => spec.parallelism));
    if (active.length > parallelism) return `${active.length} pods are active of ${parallelism}`;
    const succeeded = isTracked ? done.size : ownedBy(recorder, uid).filter(({ status }) => status.phase === 'Succeeded').length;
    const wanted = job.spec.completions - succeeded;
    if (active.length > wanted) return `${active.length} pods are active where ${wanted} are to complete`;
    const same = isIndexed && active.filter(({ metadata }) => metadata.annotations['batch.kubernetes.io/job-completion-index'] === index);
    return same && same.length > 1 ? `index ${index} is active twice` : undefined;
  };
}

/** A cron job that wants one job at a time has one. */
const oneJob: Rule = ({ plural, type, object }, recorder) => {
  if (plural !== 'jobs' || type !== 'ADDED') return undefined;
  const cron = recorder.get('cronjobs', controllerOf(object)?.uid);
  if (cron === undefined || recorder.recent(cron).some(({ spec }) => spec.concurrencyPolicy === 'Allow')) return undefined;
  const open = [...recorder.all('jobs')].filter(
    (job) =>
      controllerOf(job)?.uid === cron.metadata.uid &&
      job.metadata.deletionTimestamp === undefined &&
      !job.status.conditions?.some(({ type, status }: Loose) => (type === 'Complete' || type === 'Failed') && status === 'True'),
  );
  return open.length > 1 ? `${open.length} jobs at a time` : undefined;
};

/** The node that a pod of a daemon set is for. */
function nodeOf({ spec }: Loose): string {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return spec.nodeName ?? terms?.[0]?.matchFields?.[0]?.values[0] ?? '';
}
/** A node has one active pod of a daemon set, and a second one only of another revision in a rollout with a surge. */
const onePerNode: Rule = (change, recorder) => {
  const { object } = change;
  const set = isNew(change) ? recorder.get('daemonsets', controllerOf(object)?.uid) : undefined;
  if (set === undefined) return undefined;
  const node = nodeOf(object);
  const here = ownedBy(recorder, set.metadata.uid).filter((pod) => isActive(pod) && nodeOf(pod) === node);
  if (here.length < 2) return undefined;
  const states = recorder.recent(set);
  const most = Math.max(
    ...states.map(({ spec, status }) =>
      shareOf(spec.updateStrategy.rollingUpdate?.maxSurge ?? 0, status.desiredNumberScheduled, Math.ceil),
    ),
  );
  if (most === 0) return `${here.length} pods on ${node}`;
  if (here.length > 2 || revisionOf(here[0]) === revisionOf(here[1])) return `${here.length} pods on ${node}, or two of one revision`;
  return undefined;
};

/** Fewer nodes are without an available pod of a daemon set than its strategy allows. */
const daemonsUnavailable: Rule = (change, recorder) => {
  const { object, before, time } = change;
  if (!isRemoved(change) || recorder.isNoisy || !recorder.deletedBy(object.metadata.name, 'daemon-set-controller')) return undefined;
  const set = recorder.get('daemonsets', controllerOf(object)?.uid);
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
  const states = recorder.recent(set);
  const minReady = Math.max(...states.map(({ spec }) => spec.minReadySeconds ?? 0));
  const selectors = states.map(({ spec }) => JSON.stringify(spec.template.spec.nodeSelector));
  if (!isAvailable(before, minReady, time) || new Set(selectors).size > 1) return undefined;
  // A node with a taint may need no pod.
  const isFree = ({ metadata, spec }: Loose): boolean =>
    spec.taints === undefined && matches(metadata.labels, set.spec.template.spec.nodeSelector);
  const nodes = [...recorder.all('nodes')].filter(isFree);
  if (!nodes.some(({ metadata }) => metadata.name === nodeOf(object))) return undefined;
  const pods = ownedBy(recorder, set.metadata.uid);
  const without = nodes.filter(({ metadata }) => !pods.some((pod) => nodeOf(pod) === metadata.name && isAvailable(pod, minReady, time)));
  // With a surge another pod is available there.
  if (!without.some(({ metadata }) => metadata.name === nodeOf(object))) return undefined;
  const most = Math.max(
    ...states.map(({ spec, status }) => {
      const { maxUnavailable = 1, maxSurge = 0 } = spec.updateStrategy.rollingUpdate ?? {};
      return Math.max(shareOf(maxUnavailable, Math.max(nodes.length, status.desiredNumberScheduled), Math.ceil), maxSurge === 0 ? 1 : 0);
    }),
  );
  return without.length > most ? `${without.length} nodes are without an available pod, of at most ${most}` : undefined;
};
const matches = (labels: Loose, selector: Loose): boolean =>
  Object.entries(selector ?? {}).every(([name, value]) => labels?.[name] === value);

/** An eviction leaves as many ready pods as every budget wants. */
const budgets: Rule = (change, recorder) => {
  const { object, before } = change;
  if (!isRemoved(change) || !recorder.deletedBy(object.metadata.name, 'eviction') || !isReady(before)) return undefined;
  if (recorder.isDisturbed(object.metadata.labels?.app)) return undefined;
  for (const budget of recorder.all('poddisruptionbudgets')) {
    const { matchLabels } = budget.spec.selector;
    if (!matches(object.metadata.labels, matchLabels)) continue;
    const healthy = [...recorder.all('pods')].filter(
      (pod) => matches(pod.metadata.labels, matchLabels) && isActive(pod) && isReady(pod),
    ).length;
    const least = Math.min(
      ...recorder.recent(budget).map(({ spec }) => spec.minAvailable ?? expected(recorder, matchLabels) - spec.maxUnavailable),
    );
    if (healthy < least) return `${healthy} ready pods are left, of ${least} that ${budget.metadata.name} wants`;
  }
  return undefined;
};
/** The pods that the owners of a budget's pods want. */
function expected(recorder: Recorder, matchLabels: Loose): number {
  const owners = [...recorder.all('deployments'), ...recorder.all('statefulsets')].filter(({ spec }) =>
    matches(spec.template.metadata.labels, matchLabels),
  );
  return owners.reduce((sum, owner) => sum + Math.min(...recorder.recent(owner).map(({ spec }) => spec.replicas)), 0);
}

/** A pod that should have ended long ago, as on a node that is down, uses no quota. */
const isLate = ({ metadata }: Loose, time: number): boolean =>
  metadata.deletionTimestamp !== undefined && timeOf(metadata.deletionTimestamp) + metadata.deletionGracePeriodSeconds * 1000 < time;
/** No pod is admitted beyond a quota. */
const quotas: Rule = (change, recorder) => {
  if (!isNew(change)) return undefined;
  for (const quota of recorder.all('resourcequotas')) {
    const states = recorder.recent(quota);
    if (states.some(({ status }) => status.hard?.pods === undefined)) continue;
    const most = Math.max(...states.map(({ spec }) => Number(spec.hard.pods)));
    const isCounted = (pod: Loose): boolean =>
      pod.metadata.namespace === quota.metadata.namespace && !isOver(pod) && !isLate(pod, change.time);
    const used = [...recorder.all('pods')].filter(isCounted).length;
    if (used > most) return `${used} pods of ${most} in the quota`;
  }
  return undefined;
};

const tolerates = ({ spec }: Loose, taint: Loose): boolean =>
  (spec.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }: Loose) =>
      (effect === undefined || effect === taint.effect) &&
      (key === undefined || key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
const portsOf = ({ spec }: Loose): number[] =>
  spec.containers.flatMap(({ ports = [] }: Loose) => ports.flatMap(({ hostPort = [] }: Loose) => hostPort));
const millisOf = (quantity: string): number => Number(parseQuantity(quantity).millis());
const cpuOf = ({ spec }: Loose): number =>
  spec.containers.reduce((sum: number, { resources }: Loose) => sum + millisOf(resources?.requests?.cpu ?? '0'), 0);

/** A pod is bound to a node that it fits: by resources, taints, selector and host ports. */
const fit: Rule = (change, recorder) => {
  const { plural, object, before } = change;
  if (plural !== 'pods' || (before?.spec.nodeName ?? '') !== '' || (object.spec.nodeName ?? '') === '' || before === undefined)
    return undefined;
  const node = [...recorder.all('nodes')].find(({ metadata }) => metadata.name === object.spec.nodeName);
  if (node === undefined) return 'there is no such node';
  const states = recorder.recent(node);
  const refuses = ({ spec }: Loose): boolean =>
    (spec.taints ?? []).some((taint: Loose) => taint.effect !== 'PreferNoSchedule' && !tolerates(object, taint));
  if (states.every(refuses)) return `${node.metadata.name} has a taint: ${jsonText(node.spec.taints)}`;
  if (!matches(node.metadata.labels, object.spec.nodeSelector)) return `${node.metadata.name} has other labels`;
  const here = [...recorder.all('pods')].filter((pod) => pod.spec.nodeName === node.metadata.name && !isOver(pod));
  const { cpu, pods } = node.status.allocatable;
  if (here.length > Number(pods)) return `${here.length} pods on ${node.metadata.name}`;
  const used = here.reduce((sum, pod) => sum + cpuOf(pod), 0);
  if (used > millisOf(cpu)) return `${used}m processors are requested of ${cpu}`;
  const port = portsOf(object).find((one) => here.some((pod) => pod !== object && portsOf(pod).includes(one)));
  return port === undefined ? undefined : `port ${port} is taken on ${node.metadata.name}`;
};

export const rules = (): readonly Rule[] => [
  ...[replicas, surge, recreate, unavailable, order, new Jobs().rule, oneJob, onePerNode, daemonsUnavailable, budgets, quotas, fit],
];
