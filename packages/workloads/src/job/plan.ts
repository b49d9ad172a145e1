/** How many pods a job should have now, and which to remove or create. */
import { podFrom, type Template } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Counts } from './counting.ts';
import { aboutJob, completionsOf, indexOf, isIndexed, isSuspended, type JobNames, type JobObject, parallelismOf } from './job.ts';
import { podsToRemove } from './removal.ts';

/** Pods that are created or removed in one go. */
const MAX_CHANGES = 500;

export interface Plan {
  readonly remove: readonly WorkloadPod[];
  /** Number of pods to create, and their indexes where they have some. */
  readonly create: number;
  readonly indexes: readonly number[];
}

/** The number of pods that should be active. */
function wantedActive(job: JobObject, active: number, succeeded: number): number {
  if (isSuspended(job)) return 0;
  const completions = completionsOf(job);
  // After the first success the other pods of a work queue end by themselves.
  if (completions === undefined) return succeeded > 0 ? active : parallelismOf(job);
  return Math.max(Math.min(completions - succeeded, parallelismOf(job)), 0);
}

export function plan(job: JobObject, active: readonly WorkloadPod[], { succeeded, indexes }: Counts, names: JobNames): Plan {
  const wantedPods = wantedActive(job, active.length, succeeded);
  const completions = completionsOf(job) ?? 0;
  const indexed = isIndexed(job) ? { names, completions } : undefined;
  const remove = podsToRemove(active, Math.max(active.length - wantedPods, 0), indexed);
  // Pods are either removed or created in one go; those with a wrong index go first.
  if (remove.length > 0) return { remove: isSuspended(job) ? remove : remove.slice(0, MAX_CHANGES), create: 0, indexes: [] };
  const missing = Math.min(Math.max(wantedPods - active.length, 0), MAX_CHANGES);
  if (indexed === undefined || missing === 0) return { remove, create: missing, indexes: [] };
  const used = new Set(active.flatMap((pod) => indexOf(pod, names) ?? []));
  const add = indexes.firstMissing(missing, completions, used);
  return { remove, create: add.length, indexes: add };
}

type WireContainer = NonNullable<NonNullable<Template['spec']>['containers']>[number];
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** The template of a job's pods, with what tracking and indexes add to it. */
export function templateOf(job: JobObject, names: JobNames, tracked: boolean): Template {
  const template: Template = job.spec?.template ?? {};
  const { metadata, spec } = template;
  const finalizers = metadata?.finalizers ?? [];
  const withIndex = (container: WireContainer): WireContainer => {
    if ((container.env ?? []).some(({ name }) => name === INDEX_VARIABLE)) return container;
    const fieldRef = { fieldPath: `metadata.annotations['${names.index}']` };
    return { ...container, env: [...(container.env ?? []), { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] } as WireContainer;
  };
  return {
    metadata: {
      ...metadata,
      ...(tracked && !finalizers.includes(names.finalizer) && { finalizers: [...finalizers, names.finalizer] }),
    },
    ...(spec !== undefined && {
      spec: isIndexed(job)
        ? {
            ...spec,
            containers: (spec.containers ?? []).map(withIndex),
            ...(spec.initContainers !== undefined && { initContainers: (spec.initContainers ?? []).map(withIndex) }),
          }
        : spec,
    }),
  } as Template;
}

/** Names that are generated have at most this many characters before their random end. */
const MAX_PREFIX = 58;

/** A pod of a job, for an index where it is Indexed. */
export function podOf(job: JobObject, template: Template, names: JobNames, index?: number): WorkloadPod {
  const pod = podFrom(template, aboutJob(job));
  if (index === undefined) return pod;
  const { metadata, spec } = pod;
  const name = job.metadata.name ?? '';
  const end = `-${index}-`;
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${name.slice(0, MAX_PREFIX - end.length)}${end}`,
      annotations: { ...metadata.annotations, [names.index]: String(index) },
    },
    spec: { ...spec, hostname: `${name}-${index}` },
  } as WorkloadPod;
}
