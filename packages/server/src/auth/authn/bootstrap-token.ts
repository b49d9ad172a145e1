/**
 * Bootstrap tokens of nodes that join: `abcdef.0123456789abcdef` is looked up as the Secret `bootstrap-token-abcdef` of the
 * system namespace.
 */

import {
  bootstrapTokenExpiry,
  bootstrapTokenOf,
  bootstrapTokenPrefix,
  bootstrapTokenType,
  isBootstrapGroup,
  type TokenSecret,
  tokenField,
} from '@plat-dev/kinds/core/bootstrap-token';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { whenReady } from '@plat-dev/lib/when-ready';
import type { Identity } from '@plat-dev/meta/identity';
import { sameSecret } from '../secret.ts';
import { type TokenAuthenticator, TokenRejected, type TokenResult, wellKnown } from '../types.ts';

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** The content of a Secret, parsed once per object. */
interface ReadToken {
  /** Undefined if the Secret holds no token of the right form. */
  readonly secret: string | undefined;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined if a group is not valid. */
  readonly result: TokenResult | undefined;
}

/** The default group and the extra ones, sorted and unique. Undefined if one is not valid. */
function groupsOf(text: string): string[] | undefined {
  const extra = text === '' ? [] : text.split(',');
  if (!extra.every(isBootstrapGroup)) return undefined;
  return [wellKnown.bootstrappers, ...[...new Set(extra)].sort()];
}

/** The user of the token in the Secret of this name; undefined if the name is not that of a bootstrap token Secret. */
export function bootstrapTokenUser(secretName: string): string | undefined {
  return secretName.startsWith(bootstrapTokenPrefix)
    ? wellKnown.bootstrapPrefix + secretName.slice(bootstrapTokenPrefix.length)
    : undefined;
}

function read(identity: Identity, object: TokenSecret): ReadToken {
  const groups = groupsOf(tokenField(object, 'auth-extra-groups'));
  const usable = object.type === bootstrapTokenType(identity) && tokenField(object, 'usage-bootstrap-authentication') === 'true';
  const token = usable ? bootstrapTokenOf(object) : undefined;
  return {
    secret: token?.secret,
    expires: bootstrapTokenExpiry(object),
    result: groups && { user: { name: `${wellKnown.bootstrapPrefix}${token?.id ?? ''}`, groups } },
  };
}

export function bootstrapTokens(identity: Identity, live: LiveSource, now: () => number): TokenAuthenticator {
  const secrets = live<TokenSecret>('', 'secrets');
  const readTokens = new WeakMap<TokenSecret, ReadToken>();
  const { system } = identity.namespaces;
  const authenticate = (id: string, secret: string): TokenResult | undefined => {
    const object = secrets.get(system, bootstrapTokenPrefix + id);
    if (object === undefined || object.metadata.deletionTimestamp != null) return undefined;
    let readToken = readTokens.get(object);
    if (readToken === undefined) {
      readToken = read(identity, object);
      readTokens.set(object, readToken);
    }
    if (readToken.secret === undefined || !sameSecret(readToken.secret, secret)) return undefined;
    if (now() >= readToken.expires) throw new TokenRejected('bootstrap token has expired');
    if (readToken.result === undefined) throw new TokenRejected('bootstrap token has groups that do not begin with system:bootstrappers:');
    return readToken.result;
  };
  return {
    name: 'bootstrap-token',
    authenticateToken(token) {
      const parts = tokenForm.exec(token.value);
      if (parts === null) return undefined;
      const [, id = '', secret = ''] = parts;
      return whenReady(secrets.look(system, bootstrapTokenPrefix + id), () => authenticate(id, secret));
    },
  };
}
