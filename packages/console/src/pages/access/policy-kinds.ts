/** The kinds of reviews and policy on this server. */
import { apiVersionOf } from '@plat-dev/meta/api-version';
import type { Discovery } from '../../api/discovery.ts';
import { builtInKind } from '../../api/explain.ts';
import type { PolicyKinds } from './load-policy.ts';

/** Undefined where the server has no roles. */
export function policyKinds(discovery: Pick<Discovery, 'find'>): PolicyKinds | undefined {
  const find = (resource: string) => builtInKind(discovery, 'rbac.authorization', 'v1', resource);
  const [clusterRoles, roles] = [find('clusterroles'), find('roles')];
  const [clusterRoleBindings, roleBindings] = [find('clusterrolebindings'), find('rolebindings')];
  if (clusterRoles === undefined || roles === undefined || clusterRoleBindings === undefined || roleBindings === undefined)
    return undefined;
  return { clusterRoles, roles, clusterRoleBindings, roleBindings };
}

export const roleVersionOf = ({ roles }: PolicyKinds): string => apiVersionOf(roles);
