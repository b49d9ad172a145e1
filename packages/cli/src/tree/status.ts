/** The state of an object in two words: how much of it is ready, and its phase or condition. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { own } from '@plat-dev/lib/own';
import type { ReadForm } from '../describe/values.ts';

export interface StatusSummary {
  /** `2/3`; empty for kinds that do not count. */
  readonly ready: string;
  /** `Running`, `Available`, `Terminating`; empty where the object says nothing. */
  readonly status: string;
}
interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
}
interface Any {
  readonly metadata?: { readonly deletionTimestamp?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** By kind of a built-in group without suffix; every other kind is shown by phase and conditions. */
export function statusOf(kind: string, object: Any): StatusSummary {
  const countsText = own(counts, kind)?.(object.spec ?? {}, object.status ?? {});
  const ready = countsText ?? (kind === '/Pod' ? podReady(object as ReadForm<Pod>) : '');
  if (object.metadata?.deletionTimestamp !== undefined) return { ready, status: 'Terminating' };
  if (kind === '/Pod') return { ready, status: podStatus(object as ReadForm<Pod>) };
  return { ready, status: stateOf(object.status ?? {}) };
}

type Values = Readonly<Record<string, unknown>>;
const of = (ready: unknown, total: unknown): string => `${Number(ready ?? 0)}/${Number(total ?? 0)}`;
const replicas = (spec: Values, status: Values): string => of(status.readyReplicas, spec.replicas ?? 1);
const counts: Readonly<Record<string, (spec: Values, status: Values) => string>> = {
  '/ReplicationController': replicas,
  'apps/Deployment': replicas,
  'apps/ReplicaSet': replicas,
  'apps/StatefulSet': replicas,
  'apps/DaemonSet': (_, status) => of(status.numberReady, status.desiredNumberScheduled),
  'batch/Job': (spec, status) => of(status.succeeded, spec.completions ?? 1),
};

function podReady({ spec = {}, status = {} }: ReadForm<Pod>): string {
  return of(status.containerStatuses?.filter(({ ready }) => ready).length, spec.containers?.length);
}
/** The reason why a container waits or ended says more than the phase. */
function podStatus({ status = {} }: ReadForm<Pod>): string {
  for (const { state = {} } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const { waiting, terminated } = state;
    if (waiting?.reason !== undefined) return waiting.reason;
    if (terminated?.reason !== undefined && terminated.reason !== 'Completed') return terminated.reason;
  }
  return status.reason ?? status.phase ?? '';
}

/** Conditions that summarize an object, the most important first. */
const summaries = ['Failed', 'Complete', 'Ready', 'Available', 'Established', 'Denied', 'Approved', 'Progressing'];
/** Those that mean nothing unless they are true. */
const onlyTrue = new Set(['Failed', 'Complete', 'Denied', 'Approved']);

function stateOf({ phase, conditions }: Values): string {
  if (typeof phase === 'string') return phase;
  const conditionList = Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
  for (const type of summaries) {
    const condition = conditionList.find((one) => one.type === type);
    if (condition === undefined) continue;
    if (condition.status === 'True') return type;
    if (!onlyTrue.has(type)) return condition.reason ? `Not${type} (${condition.reason})` : `Not${type}`;
  }
  return '';
}
