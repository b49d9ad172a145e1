/**
 * Bootstrap tokens as Secrets of the system namespace hold them: `abcdef.0123456789abcdef` is the Secret
 * `bootstrap-token-abcdef`. Authentication, signing and removal of tokens parse them here, so that all
 * agree on what a token is and when it expires.
 */
import { own } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { parseInstant } from '@plat-dev/meta/time';
import type { ApiObject } from '../kind.ts';

export interface TokenSecret extends ApiObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export const bootstrapTokenType = (identity: Identity): string => domainName(identity, 'token', 'bootstrap');
export const bootstrapTokenPrefix = 'bootstrap-token-';

const idForm = /^[a-z0-9]{6}$/;
const secretForm = /^[a-z0-9]{16}$/;
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export const isBootstrapGroup = (group: string): boolean => extraGroup.test(group);

export const tokenField = (secret: TokenSecret, name: string): string => {
  return Buffer.from(own(secret.data, name) ?? '', 'base64').toString('utf8');
};

/** Milliseconds since 1970: infinite without an expiration, minus infinity if it is not a time of RFC 3339. */
export function bootstrapTokenExpiry(secret: ApiObject): number {
  const text = tokenField(secret, 'expiration');
  if (text === '') return Number.POSITIVE_INFINITY;
  try {
    const { seconds, nanos } = parseInstant(text);
    return seconds * 1000 + nanos / 1e6;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** The token of a Secret; undefined if it is malformed, or under another name. */
export function bootstrapTokenOf(secret: TokenSecret): BootstrapToken | undefined {
  const id = tokenField(secret, 'token-id');
  const key = tokenField(secret, 'token-secret');
  if (!idForm.test(id) || !secretForm.test(key) || secret.metadata.name !== bootstrapTokenPrefix + id) return undefined;
  return { id, secret: key };
}

/** Warnings about a Secret of the type of bootstrap tokens. Values are not shown: they may be nearly right. */
export function bootstrapTokenWarnings(secret: TokenSecret, identity: Identity): string[] {
  if (secret.type !== bootstrapTokenType(identity)) return [];
  const warnings: string[] = [];
  const warn = (field: string, why: string): void => void warnings.push(`${field}: ${why}, so that the token is of no use`);
  const { name = '', namespace = '' } = secret.metadata;
  const id = tokenField(secret, 'token-id');
  if (!idForm.test(id)) warn('data[token-id]', 'must be 6 characters of a-z and 0-9');
  else if (name !== bootstrapTokenPrefix + id) warn('metadata.name', `must be ${bootstrapTokenPrefix} and the token-id`);
  if (!secretForm.test(tokenField(secret, 'token-secret'))) warn('data[token-secret]', 'must be 16 characters of a-z and 0-9');
  if (namespace !== identity.namespaces.system) warn('metadata.namespace', `must be ${identity.namespaces.system}`);
  if (bootstrapTokenExpiry(secret) === Number.NEGATIVE_INFINITY)
    warn('data[expiration]', 'must be a time of RFC 3339 such as 2030-01-02T15:04:05Z and counts as past');
  const groups = tokenField(secret, 'auth-extra-groups');
  if (groups !== '' && !groups.split(',').every(isBootstrapGroup))
    warnings.push('data[auth-extra-groups]: each group must begin with system:bootstrappers:, so that the token authenticates no user');
  return warnings;
}
