/** The common types of subresources, so that a kind declares only its own parts. */
import type { ActionSubresource, ApiObject, ObjectSubresource, Strategy } from './kind.ts';

const readAndWrite = ['get', 'patch', 'update'] as const;

/** A subresource that writes a part of the same object. */
export function objectSubresource<T>(strategy: Strategy<T> = {}, verbs: ObjectSubresource['verbs'] = readAndWrite): ObjectSubresource<T> {
  return { type: 'object', verbs, strategy };
}

/** The status subresource, which controllers write. */
export const status = <T>(strategy: Strategy<T> = {}): ObjectSubresource<T> => objectSubresource(strategy);

/** A subresource that forwards requests to a pod, a service or a node. */
export const proxy = (options: string): ActionSubresource => ({
  type: 'action',
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  kind: { group: '', version: 'v1', kind: options },
});

/** A subresource that turns the connection into a stream to a container; its options are query parameters. */
export const stream = (options: string): ActionSubresource => ({
  type: 'action',
  verbs: ['create', 'get'],
  kind: { group: '', version: 'v1', kind: options },
});

/** Restores the metadata of the stored object in a write of its status, but for the owners of fields. */
export function keepMetadata(object: ApiObject, old: ApiObject): void {
  const { managedFields } = object.metadata;
  object.metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
}
