/**
 * Tokens by which new nodes join: `abcdef.0123456789abcdef` is looked up as the Secret `bootstrap-token-abcdef` of the
 * system namespace.
 */
import { domainName, type Identity } from '../../identity.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import type { LiveSource } from '../../kinds/live.ts';
import { sameSecret } from '../secret.ts';
import { type TokenAuthenticator, TokenRejected, type TokenResult, wellKnown } from '../types.ts';

interface SecretObject extends ApiObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** The one form of a time that counts: a bare year would be read as one, too. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

export const bootstrapTokenType = (identity: Identity): string => domainName(identity, 'token', 'bootstrap');

/** What a Secret says, read once for as long as it stays the same object. */
interface ReadToken {
  readonly id: string;
  readonly secret: string;
  readonly usable: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined where the groups are not all fit. */
  readonly result: TokenResult | undefined;
}

/** The usual group and the extra ones, sorted, each once. Undefined where one does not belong here. */
function groupsOf(text: string): string[] | undefined {
  const extra = text === '' ? [] : text.split(',');
  if (!extra.every((group) => extraGroup.test(group))) return undefined;
  return [wellKnown.bootstrappers, ...[...new Set(extra)].sort()];
}

const fieldOf = (object: SecretObject, name: string): string => Buffer.from(object.data?.[name] ?? '', 'base64').toString('utf8');

/** When the token of a Secret expires, in milliseconds since 1970: never where it does not say, long ago where that cannot be read. */
export function bootstrapTokenExpiry(object: ApiObject): number {
  const expiration = fieldOf(object, 'expiration');
  if (expiration === '') return Number.POSITIVE_INFINITY;
  const parsed = rfc3339.test(expiration) ? Date.parse(expiration) : Number.NaN;
  return Number.isNaN(parsed) ? Number.NEGATIVE_INFINITY : parsed;
}

/** The user of the token that a Secret of this name holds; undefined where the name is that of no such Secret. */
export function bootstrapTokenUser(secretName: string): string | undefined {
  return secretName.startsWith(secretPrefix) ? wellKnown.bootstrapPrefix + secretName.slice(secretPrefix.length) : undefined;
}
const secretPrefix = 'bootstrap-token-';

function read(identity: Identity, object: SecretObject): ReadToken {
  const field = (name: string): string => fieldOf(object, name);
  const id = field('token-id');
  const groups = groupsOf(field('auth-extra-groups'));
  return {
    id,
    secret: field('token-secret'),
    usable: object.type === bootstrapTokenType(identity) && field('usage-bootstrap-authentication') === 'true',
    expires: bootstrapTokenExpiry(object),
    result: groups && { user: { name: `${wellKnown.bootstrapPrefix}${id}`, groups } },
  };
}

export function bootstrapTokens(identity: Identity, live: LiveSource, now: () => number): TokenAuthenticator {
  const secrets = live<SecretObject>('', 'secrets');
  const known = new WeakMap<SecretObject, ReadToken>();
  return {
    name: 'bootstrap-token',
    authenticateToken(token) {
      const parts = tokenForm.exec(token.value);
      if (parts === null) return undefined;
      const [, id = '', secret = ''] = parts;
      const object = secrets.get(identity.namespaces.system, secretPrefix + id);
      if (object === undefined || object.metadata.deletionTimestamp != null) return undefined;
      let found = known.get(object);
      if (found === undefined) {
        found = read(identity, object);
        known.set(object, found);
      }
      if (!found.usable || found.id !== id || found.secret === '' || !sameSecret(found.secret, secret)) return undefined;
      if (now() >= found.expires) throw new TokenRejected('bootstrap token has expired');
      if (found.result === undefined) throw new TokenRejected('bootstrap token has groups that do not begin with system:bootstrappers:');
      return found.result;
    },
  };
}
