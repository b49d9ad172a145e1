/** Namespaces. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { objectSubresource, status } from '../subresources.ts';
import { Namespace } from './schema/namespace.ts';

export const NamespaceKind = kind<Namespace>({
  group: '',
  kind: 'Namespace',
  plural: 'namespaces',
  short: ['ns'],
  scope: 'Cluster',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: { v1: { schema: Namespace } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: { finalize: objectSubresource({}, ['update']), status: status() },
  columns: [nameColumn, { name: 'Status', type: 'string', description: 'Whether the namespace is in use or being emptied.' }, ageColumn],
});
