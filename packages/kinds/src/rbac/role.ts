/** Roles. */
import { pathSegmentName } from '@plat-dev/meta/names';
import { kind } from '../kind.ts';
import { Role } from './schema/v1.ts';
import { updateOfRole, validateRole } from './validate-roles.ts';

export const RoleKind = kind<Role>({
  group: 'rbac.authorization',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  versions: { v1: { schema: Role } },
  hub: 'v1',
  createOnUpdate: true,
  nameRule: pathSegmentName,
  strategy: { validate: validateRole, validateUpdate: updateOfRole(true, validateRole) },
});
