/**
 * Impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…`. The caller needs the verb `impersonate`
 * for each part; the request is then authorized and executed as the other user.
 */

import { badRequest } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { extraKey, headerValues } from './authn/request-header.ts';
import { parseServiceAccount, serviceAccountGroups } from './authn/users.ts';
import { forbiddenError } from './authz/refusal.ts';
import { type Attributes, type Authorizer, type AuthRequest, type User, wellKnown } from './types.ts';

const prefix = 'impersonate-';
const extraPrefix = 'impersonate-extra-';

/** Whether a request impersonates: checked for every request, so it must be cheap. */
export function wantsImpersonation(headers: AuthRequest['headers']): boolean {
  if (headers['impersonate-user'] !== undefined || headers['impersonate-group'] !== undefined) return true;
  if (headers['impersonate-uid'] !== undefined) return true;
  for (const name in headers) if (name.startsWith(extraPrefix)) return true;
  return false;
}

interface Part {
  readonly resource: string;
  /** Base name of the group. */
  readonly group: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

interface ImpersonatedUser {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

function read(rawHeaders: readonly string[]): ImpersonatedUser {
  const values = headerValues(rawHeaders, (name) => name.startsWith(prefix));
  const single = (name: string): string => {
    const all = values.get(name) ?? [];
    // Of two headers a proxy in front may have checked the other one.
    if (all.length > 1) throw badRequest(`the header ${name} may be given once only`);
    return all[0] ?? '';
  };
  const extra = new Map<string, string[]>();
  for (const [name, headerTexts] of values) {
    if (!name.startsWith(extraPrefix)) continue;
    const key = extraKey(name.slice(extraPrefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...headerTexts]);
  }
  return {
    user: single('impersonate-user'),
    uid: single('impersonate-uid'),
    groups: values.get('impersonate-group') ?? [],
    extra,
  };
}

/** The required permissions, in the order in which they are checked. */
function partsOf(wantedUser: ImpersonatedUser): Part[] {
  const account = parseServiceAccount(wantedUser.user);
  const parts: Part[] = [
    account === undefined
      ? { group: '', resource: 'users', name: wantedUser.user }
      : { group: '', resource: 'serviceaccounts', namespace: account.namespace, name: account.name },
    ...wantedUser.groups.map((name) => ({ group: '', resource: 'groups', name })),
  ];
  for (const [key, values] of wantedUser.extra) {
    parts.push(...values.map((name) => ({ group: 'authentication', resource: 'userextras', subresource: key, name })));
  }
  if (wantedUser.uid !== '') parts.push({ group: 'authentication', resource: 'uids', name: wantedUser.uid });
  return parts;
}

function impersonated(wantedUser: ImpersonatedUser): User {
  const account = parseServiceAccount(wantedUser.user);
  const groups = [...wantedUser.groups];
  if (account !== undefined && groups.length === 0) groups.push(...serviceAccountGroups(account.namespace));
  if (wantedUser.user === wellKnown.anonymous) {
    if (!groups.includes(wellKnown.unauthenticated)) groups.push(wellKnown.unauthenticated);
  } else if (!groups.includes(wellKnown.authenticated) && !groups.includes(wellKnown.unauthenticated)) {
    groups.push(wellKnown.authenticated);
  }
  return {
    name: wantedUser.user,
    ...(wantedUser.uid !== '' && { uid: wantedUser.uid }),
    groups,
    ...(wantedUser.extra.size > 0 && { extra: Object.fromEntries(wantedUser.extra) }),
  };
}

/**
 * The user to impersonate: `undefined` if the request has no such header. Throws `forbidden` for the
 * first part that the caller may not impersonate.
 */
export async function impersonate(
  identity: Identity,
  request: Pick<AuthRequest, 'rawHeaders'>,
  caller: User,
  authorizer: Authorizer,
): Promise<User | undefined> {
  const wantedUser = read(request.rawHeaders);
  if (wantedUser.user === '') {
    if (wantedUser.groups.length === 0 && wantedUser.uid === '' && wantedUser.extra.size === 0) return undefined;
    throw badRequest('groups, a uid or extra fields cannot be impersonated without a user');
  }
  for (const part of partsOf(wantedUser)) {
    const attributes: Attributes = {
      user: caller,
      verb: 'impersonate',
      group: groupName(identity, part.group),
      version: part.group === '' ? '' : 'v1',
      resource: part.resource,
      subresource: part.subresource ?? '',
      name: part.name,
      namespace: part.namespace ?? '',
      path: '',
      resourceRequest: true,
    };
    const decision = await authorizer.authorize(attributes);
    if (decision.decision !== 'allow') throw forbiddenError(attributes, decision.reason);
  }
  return impersonated(wantedUser);
}
