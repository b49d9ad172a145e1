/** Role bindings. */
import { pathSegmentName } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import { RoleBinding } from './schema/v1.ts';
import { bindingDefaults, subjectsCell, updateOfBinding, validateBinding } from './validate-roles.ts';

export const RoleBindingKind = kind<RoleBinding>({
  group: 'rbac.authorization',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  versions: { v1: version({ schema: RoleBinding, defaults: bindingDefaults }) },
  hub: 'v1',
  createOnUpdate: true,
  nameRule: pathSegmentName,
  strategy: { validate: validateBinding(true), validateUpdate: updateOfBinding(true) },
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
