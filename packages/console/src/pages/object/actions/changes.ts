/** The changes of an object that are one click: delete, scale, restart. */
import { restartAnnotation } from '@plat-dev/meta/identity';
import type { Api } from '../../../api/api.ts';
import { type ObjectReference, objectPath } from '../../../api/kinds.ts';

export const FIELD_MANAGER = 'plat-console';

/** What becomes of dependents, in the words of the API. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** Deletes this very object: one that has the same name but came later stays. */
export async function deleteObject(api: Api, object: ObjectReference, uid: string, propagationPolicy: Propagation): Promise<void> {
  await api.fetch(objectPath(object), { method: 'DELETE', body: { preconditions: { uid }, propagationPolicy } });
}

export const canScale = ({ kind }: ObjectReference): boolean => kind.subresources.includes('scale');

export async function scaleObject(api: Api, object: ObjectReference, replicas: number): Promise<void> {
  await api.fetch(objectPath(object, 'scale'), {
    method: 'PATCH',
    body: { spec: { replicas } },
    contentType: 'application/merge-patch+json',
    query: { fieldManager: FIELD_MANAGER },
  });
}

const restartable = new Set(['deployments', 'statefulsets', 'daemonsets']);
export const canRestart = ({ kind }: ObjectReference): boolean => kind.group === 'apps' && restartable.has(kind.resource);

/** Pods are replaced because their template has a new annotation. */
export async function restartObject(api: Api, object: ObjectReference, now: Date): Promise<void> {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
  await api.fetch(objectPath(object), {
    method: 'PATCH',
    body: { spec: { template: { metadata: { annotations: { [restartAnnotation]: time } } } } },
    contentType: 'application/merge-patch+json',
    query: { fieldManager: FIELD_MANAGER },
  });
}
