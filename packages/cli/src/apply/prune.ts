/** `--prune`: objects that were applied before and are no longer in the files. */
import { type ApiResource, UnknownKind } from '@plat-dev/client/discovery';
import { FlagError } from '@plat-dev/lib/flags';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, identities } from '@plat-dev/meta/identity';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { Work } from '../work.ts';
import type { ManagedFieldsEntry } from './field-ownership.ts';
import { lastAppliedText } from './last-applied.ts';

export interface PruneOptions {
  readonly selector: string;
  /** `core/v1/ConfigMap`; empty for the usual kinds. */
  readonly kinds: readonly string[];
  /** Objects that this manager applied on the server count, too; undefined: only those with the annotation. */
  readonly manager: string | undefined;
}
export interface Pruned {
  readonly ref: ObjectRef;
  readonly object: ApiItem;
}

/** By base group. */
const usualKinds: readonly (readonly [group: string, kind: string])[] = [
  ...[
    'ConfigMap',
    'Endpoints',
    'Namespace',
    'PersistentVolumeClaim',
    'PersistentVolume',
    'Pod',
    'ReplicationController',
    'Secret',
    'Service',
  ].map((kind) => ['', kind] as const),
  ['batch', 'Job'],
  ['batch', 'CronJob'],
  ['networking', 'Ingress'],
  ['apps', 'DaemonSet'],
  ['apps', 'Deployment'],
  ['apps', 'ReplicaSet'],
  ['apps', 'StatefulSet'],
];
const PAGE = 500;

/** Checks the values of the flag before anything is changed. */
export function checkPruneKinds(kinds: readonly string[]): void {
  for (const kind of kinds) {
    if (kind.split('/').length !== 3) throw new FlagError(`invalid GroupVersionKind format: ${kind}, please follow <group/version/kind>`);
  }
}

/** The resources that are searched. */
export async function pruneResources(work: Work, kinds: readonly string[]): Promise<ApiResource[]> {
  if (kinds.length > 0) {
    return Promise.all(
      kinds.map((text) => {
        const [group = '', version = '', kind = ''] = text.split('/');
        return work.discovery.forKind(joinApiVersion(group === 'core' ? '' : group, version), kind);
      }),
    );
  }
  const prunable: ApiResource[] = [];
  for (const [group, kind] of usualKinds) {
    for (const full of new Set(Object.values(identities).map((identity) => groupName(identity, group)))) {
      const resource = await work.discovery.forKind(joinApiVersion(full, 'v1'), kind).catch((error: unknown) => {
        if (error instanceof UnknownKind) return undefined;
        throw error;
      });
      if (resource !== undefined) prunable.push(resource);
    }
  }
  return prunable;
}

/** Objects that were applied and are not among those of `appliedUids`, in the namespaces that the files name. */
export async function findPruned(
  work: Work,
  resources: readonly ApiResource[],
  namespaces: ReadonlySet<string>,
  appliedUids: ReadonlySet<string>,
  options: PruneOptions,
): Promise<Pruned[]> {
  const prunedObjects: Pruned[] = [];
  const places: [ApiResource, string | undefined][] = [
    ...[...namespaces]
      .sort()
      .flatMap((namespace) => resources.filter((r) => r.namespaced).map((r) => [r, namespace] as [ApiResource, string])),
    ...resources.filter((r) => !r.namespaced).map((r) => [r, undefined] as [ApiResource, undefined]),
  ];
  for (const [resource, namespace] of places) {
    for await (const object of listed(work, resource, namespace, options.selector)) {
      const { uid = '', name = '' } = (object.metadata ?? {}) as { uid?: string; name?: string };
      if (!appliedUids.has(uid) && wasApplied(object, options.manager)) prunedObjects.push({ ref: { resource, namespace, name }, object });
    }
  }
  return prunedObjects;
}

function wasApplied(object: ApiItem, manager: string | undefined): boolean {
  if (lastAppliedText(object) !== undefined) return true;
  if (manager === undefined) return false;
  const entries = (object.metadata?.managedFields ?? []) as ManagedFieldsEntry[];
  return entries.some((entry) => entry.manager === manager && entry.operation === 'Apply');
}

async function* listed(work: Work, resource: ApiResource, namespace: string | undefined, selector: string): AsyncGenerator<ApiItem> {
  let next: string | undefined;
  do {
    const { object } = await work.sendTo(resource, namespace, {
      method: 'GET',
      query: { limit: PAGE, continue: next, labelSelector: selector === '' ? undefined : selector },
    });
    for (const item of object.items ?? []) yield { apiVersion: object.apiVersion ?? '', kind: resource.kind, ...item };
    next = object.metadata?.continue;
  } while (next !== undefined && next !== '');
}
