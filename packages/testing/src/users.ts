/** The users of requests of tests. */
import { serviceAccountGroups } from '@plat-dev/server/auth/authn/users';
import { type User, wellKnown } from '@plat-dev/server/auth/types';

/** The administrator: the default user of requests. */
const administrator: User = { name: 'admin', groups: [wellKnown.masters, wellKnown.authenticated] };

/** The user of reads by assertions: they are not requests of the program under test, and have no faults. */
export const ASSERTING_USER = 'test-assertions';

/**
 * The user that a name and groups stand for, as a server would authenticate them: every user with a name is authenticated,
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
