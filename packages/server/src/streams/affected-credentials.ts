/**
 * The credentials that may depend on a changed object. Objects have short names, which are a little imprecise, so
 * that no state is needed per stream: a stream that is affected without need is checked once more, and goes on.
 *
 *   a pod                                  `podOf` its namespace and name: tokens that are bound to it name it in the user's extra
 *   a service account, a Secret            `accountsOf` its namespace: tokens of accounts are stored in Secrets and bound to them
 *   a Secret with a bootstrap token        the name of the token's user
 */

import { domainName, type Identity } from '@plat-dev/meta/identity';
import { type User, wellKnown } from '../auth/types.ts';
import type { Context } from '../context.ts';

/** `key` is `namespace/name`. */
export const podOf = (key: string): string => `pod ${key}`;

/** Stands for all service accounts of a namespace. */
export const accountsOf = (namespace: string): string => wellKnown.serviceAccountPrefix + namespace;

export function credentialNames(
  identity: Identity,
): (ctx: Pick<Context, 'user' | 'impersonator'>, objects: ReadonlySet<string>) => boolean {
  const podName = domainName(identity, 'pod-name', 'authentication');
  const names = ({ name, extra }: User, objects: ReadonlySet<string>): boolean => {
    if (!name.startsWith(wellKnown.serviceAccountPrefix)) return objects.has(name);
    const accounts = name.slice(0, name.lastIndexOf(':'));
    if (objects.has(accounts)) return true;
    const pod = extra?.[podName]?.[0];
    return pod !== undefined && objects.has(podOf(`${accounts.slice(wellKnown.serviceAccountPrefix.length)}/${pod}`));
  };
  return ({ user, impersonator }, objects) => names(impersonator ?? user, objects);
}
