/**
 * Finds pods of lower priority whose deletion makes room for a pod that fits nowhere: on each node the fewest and least important
 * ones, and of the nodes the one where the loss is least. Disruption budgets are kept if some node allows that.
 */
import type { PodDisruptionBudget } from '@plat-dev/kinds/policy/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Random } from '@plat-dev/lib/random';
import { fromLabelSelector, type LabelSelector } from '@plat-dev/meta/labels';
import { type Decider, type Failure, messageOf } from './decide.ts';
import { misfitWithNominated } from './filters.ts';
import type { NodeState, PodState } from './state.ts';

export type Budget = Wire<PodDisruptionBudget>;

export interface Candidate {
  readonly node: NodeState;
  readonly victims: readonly PodState[];
  /** Victims whose deletion a budget does not allow. */
  readonly violations: number;
}
export interface PreemptionOptions {
  readonly decider: Decider;
  readonly random: Random;
  readonly budgets: () => Iterable<Budget>;
}

/** Nodes that are tried out: a tenth of those that may help, and at least this many. */
const MIN_CANDIDATES = 100;

/** A node and its victims, or the reason that is added to the message of the failure. */
export function preempt(options: PreemptionOptions, pod: PodState, failure: Failure): Candidate | string {
  const refusal = whyNot(pod, failure);
  if (refusal !== undefined) return `preemption: ${refusal}`;
  const reasons: { readonly reasons: readonly string[] }[] = [];
  const nodes: NodeState[] = [];
  for (const [node, { final }] of failure.misfits) {
    if (final) reasons.push(notHelpful);
    else nodes.push(node);
  }
  const possibleCandidates = nodes.length === 0 ? [] : candidates(options, pod, failure, nodes, reasons);
  const best = pick(possibleCandidates);
  return best ?? `preemption: ${messageOf(reasons.length, reasons)}`;
}
const notHelpful = { reasons: ['Preemption is not helpful for scheduling'] };
const noVictims = { reasons: ['No preemption victims found for incoming pod'] };

/** A pod whose victims are still going does not look for others. */
function whyNot({ object, nominated, priority }: PodState, failure: Failure): string | undefined {
  if (object.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  if (nominated === undefined || failure.misfits.get(nominated)?.final === true) return undefined;
  for (const other of nominated.pods)
    if (other.class.terminating && other.priority < priority) return 'not eligible due to a terminating pod on the nominated node.';
  return undefined;
}

function candidates(
  options: PreemptionOptions,
  pod: PodState,
  failure: Failure,
  nodes: readonly NodeState[],
  reasons: { readonly reasons: readonly string[] }[],
): Candidate[] {
  const enough = Math.min(Math.max(Math.floor(nodes.length / 10), MIN_CANDIDATES), nodes.length);
  const start = options.random.below(nodes.length);
  const budgets = [...options.budgets()].map(readBudget);
  const candidateList: Candidate[] = [];
  let harmless = 0;
  for (let i = 0; i < nodes.length && !(harmless > 0 && candidateList.length >= enough); i++) {
    const node = nodes[(start + i) % nodes.length] as NodeState;
    const candidate = victimsOn(options, pod, failure, node, budgets);
    if ('reasons' in candidate) reasons.push(candidate);
    else {
      candidateList.push(candidate);
      if (candidate.violations === 0) harmless++;
    }
  }
  return candidateList;
}

/** The pods that must go from a node. All is as before when it returns. */
function victimsOn(
  { decider }: PreemptionOptions,
  pod: PodState,
  failure: Failure,
  node: NodeState,
  budgets: readonly KnownBudget[],
): Candidate | { readonly reasons: readonly string[] } {
  const { cluster } = decider;
  const lower = [...node.pods].filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return noVictims;
  const plan = decider.planFor(pod.class);
  const { version } = cluster;
  const misfit = () => misfitWithNominated(cluster, pod, plan, failure.volumes, node);
  for (const other of lower) cluster.take(other);
  try {
    const firstMisfit = misfit();
    if (firstMisfit !== undefined) return firstMisfit;
    const { violating, others } = byBudget(lower.sort(moreImportantFirst), budgets);
    const victims: PodState[] = [];
    let violations = 0;
    for (const [group, isViolating] of [
      [violating, true],
      [others, false],
    ] as const) {
      for (const other of group) {
        cluster.put(other, node);
        if (misfit() === undefined) continue;
        cluster.take(other);
        victims.push(other);
        if (isViolating) violations++;
      }
    }
    return victims.length === 0 ? noVictims : { node, victims, violations };
  } finally {
    for (const other of lower) if (other.node === undefined) cluster.put(other, node);
    cluster.version = version;
  }
}

/** The higher priority first, then the pod that runs longer. */
const moreImportantFirst = (a: PodState, b: PodState): number =>
  b.priority - a.priority || compare(a.startedAt, b.startedAt) || compare(a.key, b.key);
const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

interface KnownBudget {
  readonly namespace: string;
  readonly selector: LabelSelector;
  readonly allowed: number;
  readonly disrupted: Readonly<Record<string, string>>;
}
const readBudget = ({ metadata, spec, status }: Budget): KnownBudget => ({
  namespace: metadata.namespace ?? '',
  selector: fromLabelSelector(spec?.selector),
  allowed: status?.disruptionsAllowed ?? 0,
  disrupted: status?.disruptedPods ?? {},
});

/** Pods that budgets do not allow to go, if all of these went, in the same order. */
function byBudget(pods: readonly PodState[], budgets: readonly KnownBudget[]): { violating: PodState[]; others: PodState[] } {
  const allowedLeft = budgets.map(({ allowed }) => allowed);
  const violating: PodState[] = [];
  const others: PodState[] = [];
  for (const pod of pods) {
    let violates = false;
    budgets.forEach(({ namespace, selector, disrupted }, i) => {
      const { labels } = pod.class;
      if (labels === undefined || namespace !== pod.namespace || selector.everything || !selector.matches(labels)) return;
      // Its disruption is part of the budget already.
      if (Object.hasOwn(disrupted, pod.name)) return;
      allowedLeft[i] = (allowedLeft[i] as number) - 1;
      if ((allowedLeft[i] as number) < 0) violates = true;
    });
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

/** The least loss: budgets, then the highest priority, the sum of priorities, the number of victims, and how long they run. */
function pick(candidateList: readonly Candidate[]): Candidate | undefined {
  const [first, ...rest] = candidateList.map((candidate) => ({ candidate, loss: lossOf(candidate) }));
  let best = first;
  for (const one of rest) if (best !== undefined && isLess(one.loss, best.loss)) best = one;
  return best?.candidate;
}
/** Makes priorities positive, so that every victim counts. */
const LOWEST_PRIORITY = -(2 ** 31);

function lossOf({ victims, violations }: Candidate): number[] {
  const highest = Math.max(...victims.map(({ priority }) => priority));
  const sum = victims.reduce((total, { priority }) => total + priority - LOWEST_PRIORITY, 0);
  const earliest = Math.min(...victims.filter(({ priority }) => priority === highest).map(({ startedAt }) => startedAt));
  return [violations, highest, sum, victims.length, -earliest];
}
function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number);
  return false;
}
