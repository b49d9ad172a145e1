/** The revisions of a workload: replica sets of a deployment, controller revisions of the others. */
import { anyIdentityAnnotation } from '@plat-dev/meta/identity';
import { fromLabelSelector, type LabelSelectorObject } from '@plat-dev/meta/labels';
import type { ObjectRef } from '../objects/object-ref.ts';
import { withStockText } from '../program.ts';
import type { Work } from '../work.ts';
import { kindName, type PodTemplate, type Workload } from './workloads.ts';

export interface Revision {
  readonly number: number;
  /** Why it was made, as its author wrote; empty where nothing is known. */
  readonly cause: string;
  readonly template: PodTemplate;
  /** Annotations of the object that holds the revision. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The object that holds it, for errors. */
  readonly holder: string;
  /** The patch of a controller revision; undefined for replica sets. */
  readonly patch?: object;
}

interface Owned {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
  };
}
interface ReplicaSet extends Owned {
  readonly spec: { readonly template: PodTemplate };
}
interface ControllerRevision extends Owned {
  readonly revision: number;
  readonly data?: { readonly spec?: { readonly template?: PodTemplate & { readonly $patch?: string } } };
}

/** Most objects of one page; all pages are read. */
const PAGE = 500;

/** The number of the revision that an object has, 0 if it has none. */
export function revisionOf(annotations: Readonly<Record<string, string>> = {}): number {
  const text = anyIdentityAnnotation(annotations, 'revision', 'deployment') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
const causeOf = (annotations: Readonly<Record<string, string>> = {}): string => anyIdentityAnnotation(annotations, 'change-cause') ?? '';

/** An error about a kind that has no rollouts. `stock` is what the stock client says about it. */
export const withoutHistory = (kind: string, stock: string): Error =>
  withStockText(new Error(`objects of kind ${kind} have no rollouts`), `error: ${stock}`);
export const hasRevisions = (kind: string): boolean => ['Deployment', 'DaemonSet', 'StatefulSet'].includes(kind);

/** All revisions that are kept, the oldest first. Throws for kinds that have none. */
export async function revisionsOf(work: Work, ref: ObjectRef, workload: Workload): Promise<Revision[]> {
  const { kind } = ref.resource;
  const revisions =
    kind === 'Deployment'
      ? (await owned<ReplicaSet>(work, ref, workload, 'replicasets')).flatMap(ofReplicaSet)
      : kind === 'DaemonSet' || kind === 'StatefulSet'
        ? (await owned<ControllerRevision>(work, ref, workload, 'controllerrevisions')).map(ofControllerRevision)
        : undefined;
  if (revisions === undefined) throw withoutHistory(kind, `no history viewer has been implemented for ${JSON.stringify(kindName(ref))}`);
  const byNumber = new Map(revisions.map((revision) => [revision.number, revision]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

function ofReplicaSet({ metadata, spec }: ReplicaSet): Revision[] {
  const number = revisionOf(metadata.annotations);
  if (number === 0) return [];
  return [
    {
      number,
      cause: causeOf(metadata.annotations),
      template: spec.template,
      annotations: metadata.annotations ?? {},
      holder: metadata.name,
    },
  ];
}
function ofControllerRevision({ metadata, revision, data = {} }: ControllerRevision): Revision {
  const { $patch: _, ...template } = data.spec?.template ?? {};
  const annotations = metadata.annotations ?? {};
  return { number: revision, cause: causeOf(annotations), template, annotations, holder: metadata.name, patch: data };
}

/** Objects of a type in the group of the workload that its selector selects and that it controls. */
async function owned<T extends Owned>(work: Work, ref: ObjectRef, workload: Workload, name: string): Promise<T[]> {
  const resource = { ...ref.resource, name };
  const labelSelector = fromLabelSelector(workload.spec.selector as LabelSelectorObject | undefined).toString();
  const items: T[] = [];
  let next: string | undefined;
  do {
    const { object } = await work.sendTo<{ metadata?: { continue?: string }; items?: T[] }>(resource, ref.namespace, {
      method: 'GET',
      query: { labelSelector, limit: PAGE, continue: next },
    });
    for (const item of object.items ?? [])
      if (item.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === workload.metadata.uid))
        items.push(item);
    next = object.metadata?.continue;
  } while (next !== undefined && next !== '');
  return items;
}
