/** Creates and deletes the pods of an owner, and reports it in events about the owner. */
import type { Brief, Client } from '@plat-dev/client/dynamic';
import { isNotFound } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import { isTerminating } from '@plat-dev/controllers/runtime/manager';
import type { PodTemplateSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { Part } from '@plat-dev/kinds/wire';
import type { About, EventRecorder } from './events.ts';
import type { WorkloadPod } from './pods.ts';

export type Template = Part<PodTemplateSpec>;

/** The reference by which an owner controls an object. */
export function controllerRef({ apiVersion, kind, metadata }: About): OwnerReference {
  return { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true };
}

/** Prefix of the names of an owner's pods: names that would be too long lose their end, where the server generates the rest. */
const prefixOf = (name: string): string => `${name}-`;

/** A pod of a template, without a name of its own. */
export function podFrom(template: Template, owner: About): WorkloadPod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: prefixOf(owner.metadata.name ?? ''),
      namespace: owner.metadata.namespace ?? '',
      ...(labels !== undefined && { labels: { ...labels } }),
      ...(annotations !== undefined && { annotations: { ...annotations } }),
      ...(finalizers !== undefined && { finalizers: [...finalizers] }),
      ownerReferences: [controllerRef(owner)],
    },
    spec: template.spec,
  } as WorkloadPod;
}

export class PodControl {
  private readonly client: Client;
  private readonly recorder: EventRecorder;

  constructor(client: Client, recorder: EventRecorder) {
    this.client = client;
    this.recorder = recorder;
  }
  /** Creates a pod, which must not be changed afterwards. What is refused is an event about the owner, unless its namespace is going, and is thrown. */
  async create(pod: WorkloadPod, owner: About): Promise<Brief> {
    try {
      const createdPod = await this.client.createBriefly(refs.pods, pod.metadata.namespace ?? '', pod);
      this.recorder.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${createdPod.metadata.name}`);
      return createdPod;
    } catch (error) {
      if (!isTerminating(error)) this.recorder.event(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
      throw error;
    }
  }
  /** Deletes a pod; one that is gone already is no failure. */
  async delete(pod: WorkloadPod, owner: About): Promise<void> {
    const { namespace = '', name = '', uid } = pod.metadata;
    try {
      await this.client.delete(refs.pods, namespace, name, uid === undefined ? {} : { preconditions: { uid } });
      this.recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      this.recorder.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
      throw error;
    }
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Calls `make` for each number below `count`, in batches of 1, 2, 4, … at a time. A batch with a failure is the last one: what is
 * refused for one, by a quota, is mostly refused for all. Returns what was made, and the first error.
 */
export async function slowStart<T>(count: number, make: (index: number) => Promise<T>): Promise<{ created: T[]; error?: unknown }> {
  const created: T[] = [];
  for (let from = 0, size = 1; from < count; ) {
    const batch = Math.min(size, count - from);
    const results = await Promise.allSettled(Array.from({ length: batch }, (_, i) => make(from + i)));
    for (const result of results) if (result.status === 'fulfilled') created.push(result.value);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) return { created, error: failed.reason };
    from += batch;
    size = Math.min(size * 2, LARGEST_BATCH);
  }
  return { created };
}

/** Requests of one batch at a time. */
const LARGEST_BATCH = 500;
