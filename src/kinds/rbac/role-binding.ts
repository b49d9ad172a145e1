/** Role bindings. */
import { pathSegmentName } from '../../meta/names.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { RoleBinding } from './schema/v1.ts';

export const RoleBindingKind = kind<RoleBinding>({
  group: 'rbac.authorization',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  versions: { v1: { schema: RoleBinding } },
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
