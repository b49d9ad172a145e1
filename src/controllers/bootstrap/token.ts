/** Bootstrap tokens as the Secrets of the system namespace hold them. */
import { domainName, type Identity } from '../../identity.ts';
import type { ApiObject } from '../../kinds/kind.ts';

export interface TokenSecret extends ApiObject {
  type?: string;
  data?: Record<string, string>;
}

export const tokenType = (identity: Identity): string => domainName(identity, 'token', 'bootstrap');

const field = (secret: TokenSecret, name: string): string => Buffer.from(secret.data?.[name] ?? '', 'base64').toString();

/** Milliseconds since 1970; infinite where the token does not expire. A time that cannot be read has passed. */
export function expirationOf(secret: TokenSecret): number {
  const text = field(secret, 'expiration');
  if (text === '') return Number.POSITIVE_INFINITY;
  const millis = Date.parse(text);
  return Number.isNaN(millis) ? Number.NEGATIVE_INFINITY : millis;
}

export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

/** The token where it may sign at this time. */
export function signingToken(secret: TokenSecret, now: number): SigningToken | undefined {
  const id = field(secret, 'token-id');
  const key = field(secret, 'token-secret');
  if (!/^[a-z0-9]{6}$/.test(id) || secret.metadata.name !== `bootstrap-token-${id}` || key === '') return undefined;
  if (secret.metadata.deletionTimestamp !== undefined || now >= expirationOf(secret)) return undefined;
  return field(secret, 'usage-bootstrap-signing') === 'true' ? { id, secret: key } : undefined;
}
