/**
 * Impersonation: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…`. The caller needs the verb `impersonate`
 * for each part, or what a constrained mode asks for; the request is then authorized and executed as the other user.
 */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { ApiError, badRequest } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { extraKey, headerValues } from './authn/request-header.ts';
import { parseServiceAccount } from './authn/users.ts';
import { demand, type ImpersonatedUser, impersonatedUser, type Mode, modes, underConstraint } from './constrained-impersonation.ts';
import type { Attributes, Authorizer, AuthRequest, User } from './types.ts';

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

export interface ImpersonationOptions {
  readonly identity: Identity;
  readonly authorizer: Authorizer;
  /** Whether callers may have rights to impersonate for certain requests only, and which mode allowed a caller to do so last. */
  readonly constrained: LastModes | false;
}
/** The modes by which callers impersonated last, by the names of callers; `all`: for all requests. The rights of this mode are refused first. */
type LastModes = BoundedCache<string, Mode['name'] | 'all'>;
/** Callers that are remembered. */
const REMEMBERED = 1024;
export const newLastModes = (): LastModes => new BoundedCache(REMEMBERED);

export interface Impersonation {
  readonly user: User;
  /** The verb of the mode that allowed it; absent: `impersonate`. */
  readonly constraint?: string;
}

/**
 * The user to impersonate: `undefined` if the request has no such header. Throws `forbidden` for the first part that the caller may not
 * impersonate. `target` is what the caller requests, as itself.
 */
export async function impersonate(
  { identity, authorizer, constrained }: ImpersonationOptions,
  request: Pick<AuthRequest, 'rawHeaders'>,
  target: Attributes,
): Promise<Impersonation | undefined> {
  const wantedUser = read(request.rawHeaders);
  if (wantedUser.user === '') {
    if (wantedUser.groups.length === 0 && wantedUser.uid === '' && wantedUser.extra.size === 0) return undefined;
    throw badRequest('groups, a uid or extra fields cannot be impersonated without a user');
  }
  const caller = target.user.name;
  const refusals = new Map<string, ApiError>();
  const tried = constrained === false ? [undefined] : [...modes, undefined];
  for (const mode of tried) {
    try {
      const user =
        mode === undefined
          ? await underNone(identity, authorizer, wantedUser, target.user)
          : await underConstraint(mode, identity, authorizer, wantedUser, target);
      if (user === undefined) continue;
      if (constrained !== false) constrained.set(caller, mode?.name ?? 'all');
      return { user, ...(mode !== undefined && { constraint: `impersonate:${mode.name}` }) };
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 403)) throw error;
      refusals.set(mode?.name ?? 'all', error);
    }
  }
  const last = constrained === false ? undefined : refusals.get(constrained.get(caller) ?? '');
  throw last ?? [...refusals.values()][0];
}

/** The user for all requests. Throws `forbidden`. */
async function underNone(identity: Identity, authorizer: Authorizer, wantedUser: ImpersonatedUser, user: User): Promise<User> {
  for (const part of partsOf(wantedUser)) {
    await demand(authorizer, {
      user,
      verb: 'impersonate',
      group: groupName(identity, part.group),
      version: part.group === '' ? '' : 'v1',
      resource: part.resource,
      subresource: part.subresource ?? '',
      name: part.name,
      namespace: part.namespace ?? '',
      path: '',
      resourceRequest: true,
    });
  }
  return impersonatedUser(wantedUser);
}
