/** Cluster role bindings. */
import { pathSegmentName } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import { ClusterRoleBinding } from './schema/v1.ts';
import { bindingDefaults, subjectsCell, updateOfBinding, validateBinding } from './validate-roles.ts';

export const ClusterRoleBindingKind = kind<ClusterRoleBinding>({
  group: 'rbac.authorization',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  versions: { v1: version({ schema: ClusterRoleBinding, defaults: bindingDefaults }) },
  hub: 'v1',
  createOnUpdate: true,
  nameRule: pathSegmentName,
  strategy: { validate: validateBinding(false), validateUpdate: updateOfBinding(false) },
  columns: [
    nameColumn,
    { name: 'Role', type: 'string', description: 'The role that is granted.' },
    ageColumn,
    { name: 'Users', type: 'string', priority: 1, description: 'The users to whom the role is granted.' },
    { name: 'Groups', type: 'string', priority: 1, description: 'The groups to which the role is granted.' },
    { name: 'ServiceAccounts', type: 'string', priority: 1, description: 'The service accounts to which the role is granted.' },
  ],
  cells: (binding, env) => [
    nameCell(binding),
    `${binding.roleRef.kind}/${binding.roleRef.name}`,
    ageCell(binding, env),
    subjectsCell(binding.subjects, 'User'),
    subjectsCell(binding.subjects, 'Group'),
    subjectsCell(binding.subjects, 'ServiceAccount'),
  ],
});
