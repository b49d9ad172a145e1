/**
 * Impersonation for certain requests only. A caller needs two rights: to be such a user, and to make such a request as one.
 *
 *   mode             users                                  rights
 *   associated-node  the node on which the caller runs      impersonate:associated-node on nodes, of any name
 *   arbitrary-node   system:node:NAME                       impersonate:arbitrary-node on the node
 *   serviceaccount   system:serviceaccount:NAMESPACE:NAME   impersonate:serviceaccount on the account
 *   user-info        all others                             impersonate:user-info on users, groups, uids and userextras
 *
 * The first right is in the group of authentication. The second is that of the request itself, `impersonate-on:MODE:VERB`, and is
 * asked for first. Of nodes and accounts only the name can be chosen; their groups follow from it.
 */

import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { domainPrefixedPath } from '@plat-dev/meta/names';
import { parseServiceAccount, serviceAccountGroups } from './authn/users.ts';
import { forbiddenError } from './authz/refusal.ts';
import { type Attributes, type Authorizer, type User, wellKnown } from './types.ts';

/** As the headers of a request name it. */
export interface ImpersonatedUser {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface Mode {
  readonly name: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';
  /** Whether the mode has such users. */
  has(identity: Identity, wanted: ImpersonatedUser, caller: User): boolean;
}

const nodeNameOf = ({ user }: ImpersonatedUser): string | undefined => {
  if (!user.startsWith(wellKnown.nodePrefix)) return undefined;
  const name = user.slice(wellKnown.nodePrefix.length);
  return SUBDOMAIN.test(name) && name.length <= 253 ? name : undefined;
};
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const hasNameOnly = ({ uid, groups, extra }: ImpersonatedUser): boolean => uid === '' && groups.length === 0 && extra.size === 0;
const isAccount = ({ user }: ImpersonatedUser): boolean => parseServiceAccount(user) !== undefined;

/** In the order in which they are tried. */
export const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    has(identity, wanted, caller) {
      const node = nodeNameOf(wanted);
      const [own, ...more] = caller.extra?.[domainName(identity, 'node-name', 'authentication')] ?? [];
      return (
        node !== undefined && hasNameOnly(wanted) && parseServiceAccount(caller.name) !== undefined && own === node && more.length === 0
      );
    },
  },
  { name: 'arbitrary-node', has: (_, wanted) => hasNameOnly(wanted) && nodeNameOf(wanted) !== undefined },
  { name: 'serviceaccount', has: (_, wanted) => hasNameOnly(wanted) && isAccount(wanted) },
  { name: 'user-info', has: (_, wanted) => nodeNameOf(wanted) === undefined && !isAccount(wanted) },
];

/** The user as which the request goes on, undefined where the mode has no such users. Throws `forbidden`. */
export async function underConstraint(
  mode: Mode,
  identity: Identity,
  authorizer: Authorizer,
  wanted: ImpersonatedUser,
  target: Attributes,
): Promise<User | undefined> {
  if (!mode.has(identity, wanted, target.user)) return undefined;
  const caller = mode.name === 'associated-node' ? onAnyNode(identity, target.user) : target.user;
  await demand(authorizer, { ...target, user: caller, verb: `impersonate-on:${mode.name}:${target.verb}` });
  const right = (resource: string, name: string, more: Partial<Attributes> = {}): Attributes => ({
    user: caller,
    verb: `impersonate:${mode.name}`,
    group: groupName(identity, 'authentication'),
    version: 'v1',
    resource,
    subresource: '',
    name,
    namespace: '',
    path: '',
    resourceRequest: true,
    ...more,
  });
  await demand(authorizer, nameRight(mode, wanted, right));
  if (wanted.uid !== '') await demand(authorizer, right('uids', wanted.uid));
  await demandGroups(authorizer, wanted.groups, right);
  await demandExtra(authorizer, wanted.extra, right);
  const node = nodeNameOf(wanted);
  return impersonatedUser(node === undefined ? wanted : { ...wanted, groups: [wellKnown.nodes] });
}
type Right = (resource: string, name: string, more?: Partial<Attributes>) => Attributes;

function nameRight(mode: Mode, wanted: ImpersonatedUser, right: Right): Attributes {
  const node = nodeNameOf(wanted);
  if (node !== undefined) return right('nodes', mode.name === 'associated-node' ? '*' : node);
  const account = parseServiceAccount(wanted.user);
  return account === undefined ? right('users', wanted.user) : right('serviceaccounts', account.name, { namespace: account.namespace });
}

/** From so many on, one right to all of them is looked for first. */
const MANY = 4;

async function demandGroups(authorizer: Authorizer, groups: readonly string[], right: Right): Promise<void> {
  if (groups.includes('')) throw forbiddenError(right('groups', ''), 'impersonating the empty string group is not allowed');
  if (groups.includes(wellKnown.masters))
    throw forbiddenError(right('groups', wellKnown.masters), `impersonating the ${wellKnown.masters} group is not allowed`);
  if (groups.length >= MANY && (await allows(authorizer, right('groups', '*')))) return;
  for (const group of groups) await demand(authorizer, right('groups', group));
}

async function demandExtra(authorizer: Authorizer, extra: ImpersonatedUser['extra'], right: Right): Promise<void> {
  const wrong = [...extra].map(([key, values]) => extraFault(key, values)).find((fault) => fault !== undefined);
  if (wrong !== undefined) throw forbiddenError(right('userextras', ''), wrong);
  const count = [...extra.values()].reduce((sum, { length }) => sum + length, 0);
  if (count >= MANY && (await allows(authorizer, right('userextras', '*', { subresource: '*' })))) return;
  for (const [subresource, values] of extra)
    for (const value of values) await demand(authorizer, right('userextras', value, { subresource }));
}

function extraFault(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const [fault] = domainPrefixedPath(key);
  if (fault !== undefined)
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: ${fault}`;
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined;
}

/** A caller that may be its own node may be so wherever it runs: no authorizer is to decide by the node. */
const onAnyNode = (identity: Identity, caller: User): User => ({
  ...caller,
  extra: { [domainName(identity, 'associated-node-keys', 'authentication')]: Object.keys(caller.extra ?? {}).sort() },
});

const allows = async (authorizer: Authorizer, attributes: Attributes): Promise<boolean> =>
  (await authorizer.authorize(attributes)).decision === 'allow';

/** Throws `forbidden` where the authorizer does not allow it. */
export async function demand(authorizer: Authorizer, attributes: Attributes): Promise<void> {
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenError(attributes, reason);
}

/** The user with the groups that follow from its name. */
export function impersonatedUser(wanted: ImpersonatedUser): User {
  const account = parseServiceAccount(wanted.user);
  const groups = [...wanted.groups];
  if (account !== undefined && groups.length === 0) groups.push(...serviceAccountGroups(account.namespace));
  if (wanted.user === wellKnown.anonymous) {
    if (!groups.includes(wellKnown.unauthenticated)) groups.push(wellKnown.unauthenticated);
  } else if (!groups.includes(wellKnown.authenticated) && !groups.includes(wellKnown.unauthenticated)) {
    groups.push(wellKnown.authenticated);
  }
  return {
    name: wanted.user,
    ...(wanted.uid !== '' && { uid: wanted.uid }),
    groups,
    ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }),
  };
}
