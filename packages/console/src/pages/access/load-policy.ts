/** Reads roles and bindings. */
import type { Api } from '../../api/api.ts';
import type { Kind } from '../../api/kinds.ts';
import { collectionPath } from '../../api/kinds.ts';
import type { ListPage } from '../../api/list-watch.ts';
import type { Binding, Policy, Role } from './rbac.ts';

export interface PolicyKinds {
  readonly clusterRoles: Kind;
  readonly roles: Kind;
  readonly clusterRoleBindings: Kind;
  readonly roleBindings: Kind;
}

/** More of one kind are not read, so that answers may lack some. */
const MOST_OBJECTS = 10_000;

/** Throws ApiError, such as for a user who may not list them. Without a namespace only those of the whole cluster count. */
export async function loadPolicy(api: Pick<Api, 'json'>, kinds: PolicyKinds, namespace: string, signal: AbortSignal): Promise<Policy> {
  const list = async <T>(kind: Kind, place?: string): Promise<readonly T[]> => {
    const page = await api.json<ListPage & { readonly items?: readonly T[] | null }>(collectionPath(kind, place), {
      query: { limit: MOST_OBJECTS },
      signal,
    });
    return page.items ?? [];
  };
  const [clusterRoles, clusterRoleBindings, roles, roleBindings] = await Promise.all([
    list<Role>(kinds.clusterRoles),
    list<Binding>(kinds.clusterRoleBindings),
    namespace === '' ? [] : list<Role>(kinds.roles, namespace),
    namespace === '' ? [] : list<Binding>(kinds.roleBindings, namespace),
  ]);
  return { clusterRoles, clusterRoleBindings, roles, roleBindings };
}
