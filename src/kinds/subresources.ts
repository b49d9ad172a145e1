/** The usual shapes of subresources, so that a kind names only what is its own. */
import type { ActionSubresource, ObjectSubresource, Strategy } from './kind.ts';

const readAndWrite = ['get', 'patch', 'update'] as const;

/** A subresource that writes the same object in another way. */
export function objectSubresource<T>(strategy: Strategy<T> = {}, verbs: ObjectSubresource['verbs'] = readAndWrite): ObjectSubresource<T> {
  return { type: 'object', verbs, strategy };
}

/** The subresource through which controllers report what they see. */
export const status = <T>(strategy: Strategy<T> = {}): ObjectSubresource<T> => objectSubresource(strategy);

/** A subresource that passes requests on to a pod, a service or a node. */
export const proxy = (options: string): ActionSubresource => ({
  type: 'action',
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  kind: { group: '', version: 'v1', kind: options },
});

/** A subresource that turns the connection into a stream to a container; its options come in the query. */
export const stream = (options: string): ActionSubresource => ({
  type: 'action',
  verbs: ['create', 'get'],
  kind: { group: '', version: 'v1', kind: options },
});
