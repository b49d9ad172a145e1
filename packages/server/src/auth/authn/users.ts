/** Users of the server itself, and service accounts as users. */
import { type User, wellKnown } from '../types.ts';

/** The user with the group of all authenticated users. */
export function authenticated(user: User): User {
  if (user.groups.includes(wellKnown.authenticated) || user.groups.includes(wellKnown.unauthenticated)) return user;
  return { ...user, groups: [...user.groups, wellKnown.authenticated] };
}

export const anonymousUser: User = { name: wellKnown.anonymous, groups: [wellKnown.unauthenticated] };

export const serviceAccountName = (namespace: string, name: string): string => `${wellKnown.serviceAccountPrefix}${namespace}:${name}`;

export const serviceAccountGroups = (namespace: string): string[] => [
  wellKnown.serviceAccounts,
  `${wellKnown.serviceAccounts}:${namespace}`,
];

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The parts of `system:serviceaccount:ns:name`; undefined for any other user name. */
export function parseServiceAccount(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(wellKnown.serviceAccountPrefix)) return undefined;
  const parts = user.slice(wellKnown.serviceAccountPrefix.length).split(':');
  const [namespace = '', name = ''] = parts;
  if (parts.length !== 2 || namespace.length > 63 || !label.test(namespace)) return undefined;
  if (name.length > 253 || !subdomain.test(name)) return undefined;
  return { namespace, name };
}
