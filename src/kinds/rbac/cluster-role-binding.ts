/** Cluster role bindings. */
import { pathSegmentName } from '../../meta/names.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ClusterRoleBinding } from './schema/v1.ts';

export const ClusterRoleBindingKind = kind<ClusterRoleBinding>({
  group: 'rbac.authorization',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  versions: { v1: { schema: ClusterRoleBinding } },
  hub: 'v1',
  createOnUpdate: true,
  nameRule: pathSegmentName,
  columns: [
    nameColumn,
    { name: 'Role', type: 'string', description: 'The role that is granted.' },
    ageColumn,
    { name: 'Users', type: 'string', priority: 1, description: 'The users to whom the role is granted.' },
    { name: 'Groups', type: 'string', priority: 1, description: 'The groups to which the role is granted.' },
    { name: 'ServiceAccounts', type: 'string', priority: 1, description: 'The service accounts to which the role is granted.' },
  ],
});
