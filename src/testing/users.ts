/** Who a request of a test is made by. */
import { serviceAccountGroups } from '../auth/authn/users.ts';
import { type User, wellKnown } from '../auth/types.ts';

/** Who may do everything: the user of requests that name none. */
export const administrator: User = { name: 'admin', groups: [wellKnown.masters, wellKnown.authenticated] };

/** Who reads on behalf of an assertion: these requests are none of the program under test, and no faults are for them. */
export const ASSERTING_USER = 'test-assertions';

/**
 * The user that a name and groups stand for, as a server would have found them: everybody who has a name is authenticated,
 * and service accounts (`system:serviceaccount:NAMESPACE:NAME`) have the groups of their namespace.
 */
export function userOf(name?: string, groups: readonly string[] = []): User {
  if (name === undefined) {
    if (groups.length > 0) throw new Error(`groups ${groups.join(', ')} need a user: name one before them`);
    return administrator;
  }
  if (name === wellKnown.anonymous) return { name, groups: [...groups, wellKnown.unauthenticated] };
  return { name, groups: [...new Set([...groups, ...accountGroups(name), wellKnown.authenticated])] };
}

function accountGroups(name: string): readonly string[] {
  if (!name.startsWith(wellKnown.serviceAccountPrefix)) return [];
  const [namespace = ''] = name.slice(wellKnown.serviceAccountPrefix.length).split(':');
  return serviceAccountGroups(namespace);
}
