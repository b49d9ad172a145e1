/** Which pods of a node `plat drain` removes, and which keep it from doing so. */

import { timeMillis } from '@plat-dev/lib/time';
import { anyIdentityAnnotation } from '@plat-dev/meta/identity';
import type { ApiItem } from '../output/print-objects.ts';

export interface DrainedPod extends ApiItem {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly controller?: boolean }[];
  };
  readonly spec?: { readonly volumes?: readonly { readonly emptyDir?: object }[] };
  readonly status?: { readonly phase?: string };
}

export interface DrainRules {
  readonly force: boolean;
  readonly ignoreDaemonsets: boolean;
  readonly deleteEmptydirData: boolean;
  /** Seconds; 0 skips no pod. */
  readonly skipWaitForDeleteTimeout: number;
  readonly now: number;
  /** Why the daemon set of a pod cannot be read; undefined if it exists. `isGone`: there is none. */
  daemonSetProblem(pod: DrainedPod, name: string): { readonly isGone: boolean; readonly message: string } | undefined;
}

interface Verdict {
  readonly remove: boolean;
  readonly warning?: string;
  readonly error?: string;
}
const remove: Verdict = { remove: true };
const skip: Verdict = { remove: false };
const failing = (error: string): Verdict => ({ remove: false, error });

export interface DrainPlan {
  readonly pods: readonly DrainedPod[];
  /** `what: namespace/pod, …`, one entry for each kind of warning. */
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
}

/** The first rule that keeps a pod decides about it; of several warnings the last counts. */
export function planDrain(pods: readonly DrainedPod[], rules: DrainRules): DrainPlan {
  const removed: DrainedPod[] = [];
  const warnings = new Map<string, string[]>();
  const errors = new Map<string, string[]>();
  for (const pod of pods) {
    const verdict = verdictOn(pod, rules);
    if (verdict.remove) removed.push(pod);
    if (verdict.warning !== undefined) note(warnings, verdict.warning, pod);
    if (verdict.error !== undefined) note(errors, verdict.error, pod);
  }
  const lines = (podsByReason: Map<string, string[]>): string[] => [...podsByReason].map(([what, names]) => `${what}: ${names.join(', ')}`);
  return { pods: removed, warnings: lines(warnings), errors: lines(errors).map((line) => `cannot delete ${line}`) };
}
function note(podsByReason: Map<string, string[]>, what: string, { metadata }: DrainedPod): void {
  const names = podsByReason.get(what) ?? [];
  names.push(`${metadata.namespace}/${metadata.name}`);
  podsByReason.set(what, names);
}

function verdictOn(pod: DrainedPod, rules: DrainRules): Verdict {
  let verdict = remove;
  for (const rule of [longDeleted, ofDaemonSet, mirrored, withLocalStorage, uncontrolled]) {
    verdict = rule(pod, rules);
    if (!verdict.remove) break;
  }
  return verdict;
}

/** Whether a pod was deleted so long ago that its end is not awaited. */
export function isLongDeleted(
  { metadata }: DrainedPod,
  { skipWaitForDeleteTimeout, now }: Pick<DrainRules, 'skipWaitForDeleteTimeout' | 'now'>,
): boolean {
  if (skipWaitForDeleteTimeout <= 0 || metadata.deletionTimestamp === undefined) return false;
  return Math.trunc((now - timeMillis(metadata.deletionTimestamp)) / 1000) > skipWaitForDeleteTimeout;
}
const longDeleted = (pod: DrainedPod, rules: DrainRules): Verdict => (isLongDeleted(pod, rules) ? skip : remove);

const isFinished = ({ status }: DrainedPod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
export const controllerOf = ({ metadata }: DrainedPod) => metadata.ownerReferences?.find(({ controller }) => controller === true);

function ofDaemonSet(pod: DrainedPod, rules: DrainRules): Verdict {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'DaemonSet' || isFinished(pod)) return remove;
  const problem = rules.daemonSetProblem(pod, owner.name);
  if (problem !== undefined) return problem.isGone && rules.force ? { remove: true, warning: problem.message } : failing(problem.message);
  if (!rules.ignoreDaemonsets) return failing('DaemonSet-managed Pods (use --ignore-daemonsets to ignore)');
  return { remove: false, warning: 'ignoring DaemonSet-managed Pods' };
}
/** Pods that an agent made from its own files cannot be removed through the API. */
const mirrored = ({ metadata }: DrainedPod): Verdict =>
  anyIdentityAnnotation(metadata.annotations ?? {}, 'config.mirror') === undefined ? remove : skip;

function withLocalStorage(pod: DrainedPod, rules: DrainRules): Verdict {
  const hasLocal = pod.spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ?? false;
  if (!hasLocal || isFinished(pod)) return remove;
  if (!rules.deleteEmptydirData) return failing('Pods with local storage (use --delete-emptydir-data to override)');
  return { remove: true, warning: 'deleting Pods with local storage' };
}
function uncontrolled(pod: DrainedPod, rules: DrainRules): Verdict {
  if (isFinished(pod) || controllerOf(pod) !== undefined) return remove;
  if (rules.force) return { remove: true, warning: 'deleting Pods that declare no controller' };
  return failing('Pods declare no controller (use --force to override)');
}
