/** The workloads that `rollout` is about: their flags, and how they are found and read. */
import { FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { connectFlags } from '../connect.ts';
import { namesManifests } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag, selectFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { findTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { Work } from '../work.ts';

export const workloadFlags = { ...fileFlags, namespace: namespaceFlag, selector: selectFlags.selector };
const table = { Objects: workloadFlags, Connecting: connectFlags };
export type WorkloadOptions = FlagValues<typeof table>;

export interface Workload extends ApiItem {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector?: object;
    readonly template: PodTemplate;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
  readonly status?: RolloutStatus;
}
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
}
export interface RolloutStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly desiredNumberScheduled?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
}

/** Checks the arguments before any request. A type without a name means all of them. */
export function checkWorkloads(command: string, args: readonly string[], options: WorkloadOptions): void {
  if (args.length === 0 && !namesManifests(options))
    throw new FlagError(`required resource not specified. For example: plat rollout ${command} deployment/web`);
  if (args.length > 0 && namesManifests(options)) throw new FlagError('files and a name exclude each other: the files name the objects');
}

/** The workloads of a command line; prints a line if there are none. */
export async function findWorkloads(work: Work, args: readonly string[], options: WorkloadOptions): Promise<ObjectRef[]> {
  const refs = await findTargets(work, args, options);
  if (refs.length === 0 && !work.hasLeftOut) work.io.err(`No resources found in ${work.namespace} namespace.\n`);
  return refs;
}

/** `deployments.apps` */
export const fullName = ({ resource }: ObjectRef): string => (resource.group === '' ? resource.name : `${resource.name}.${resource.group}`);
/** `Deployment.apps` */
export const kindName = ({ resource }: ObjectRef): string => (resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`);
