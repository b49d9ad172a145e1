/** Cluster roles. */
import { pathSegmentName } from '@plat-dev/meta/names';
import { kind } from '../kind.ts';
import { ClusterRole } from './schema/v1.ts';
import { updateOfRole, validateClusterRole } from './validate-roles.ts';

export const ClusterRoleKind = kind<ClusterRole>({
  group: 'rbac.authorization',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  versions: { v1: { schema: ClusterRole } },
  hub: 'v1',
  createOnUpdate: true,
  nameRule: pathSegmentName,
  strategy: { validate: validateClusterRole, validateUpdate: updateOfRole(false, validateClusterRole) },
});
