/**
 * Signed tokens (RFC 7515, 7519) with public keys. A token is accepted only if its algorithm belongs to the key that
 * is tried and is one that the caller allows: neither `none` nor a shared secret is ever an algorithm here.
 */

import { constants, createHash, createPublicKey, type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';

interface Algorithm {
  readonly type: 'rsa' | 'ec';
  readonly digest: string;
  readonly curve?: string;
  /** RSA-PSS instead of PKCS #1. */
  readonly pss?: boolean;
}

export const algorithms: Readonly<Record<string, Algorithm>> = Object.freeze({
  __proto__: null,
  RS256: { type: 'rsa', digest: 'sha256' },
  RS384: { type: 'rsa', digest: 'sha384' },
  RS512: { type: 'rsa', digest: 'sha512' },
  PS256: { type: 'rsa', digest: 'sha256', pss: true },
  PS384: { type: 'rsa', digest: 'sha384', pss: true },
  PS512: { type: 'rsa', digest: 'sha512', pss: true },
  ES256: { type: 'ec', digest: 'sha256', curve: 'prime256v1' },
  ES384: { type: 'ec', digest: 'sha384', curve: 'secp384r1' },
  ES512: { type: 'ec', digest: 'sha512', curve: 'secp521r1' },
}) as unknown as Readonly<Record<string, Algorithm>>;

export type Claims = Readonly<Record<string, unknown>>;

export interface Jwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly claims: Claims;
  /** Head and claims as they were signed. */
  readonly signed: string;
  readonly signature: Buffer;
}

const base64url = /^[A-Za-z0-9_-]+$/;

function jsonObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum characters of a token; no header is longer. */
const MAX_JWT = 64 * 1024;

/** Parses a token without verifying it. Undefined for anything that is not a signed token of this form. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > MAX_JWT) return undefined;
  const parts = token.split('.');
  const [head, body, signature] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined) return undefined;
  if (!base64url.test(head) || !base64url.test(body) || !base64url.test(signature)) return undefined;
  const header = jsonObject(head);
  const claims = jsonObject(body);
  // `crit` names extensions that must be understood, and none is supported.
  if (header === undefined || claims === undefined || typeof header.alg !== 'string' || header.crit !== undefined) return undefined;
  return {
    algorithm: header.alg,
    keyId: typeof header.kid === 'string' ? header.kid : undefined,
    claims,
    signed: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

const fits = (algorithm: Algorithm, key: KeyObject): boolean =>
  key.asymmetricKeyType === algorithm.type &&
  (algorithm.curve === undefined || key.asymmetricKeyDetails?.namedCurve === algorithm.curve) &&
  (algorithm.type !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048);

function keyInput(algorithm: Algorithm, key: KeyObject) {
  if (algorithm.type === 'ec') return { key, dsaEncoding: 'ieee-p1363' as const };
  return algorithm.pss === true
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { key, padding: constants.RSA_PKCS1_PADDING };
}

/** Whether the token was signed with the private key of this public key, by one of the allowed algorithms. */
export function isSignedBy(jwt: Jwt, publicKey: KeyObject, allowedAlgorithms: readonly string[]): boolean {
  const algorithm = allowedAlgorithms.includes(jwt.algorithm) ? own(algorithms, jwt.algorithm) : undefined;
  if (algorithm === undefined || publicKey.type !== 'public' || !fits(algorithm, publicKey)) return false;
  return verifyBytes(algorithm.digest, Buffer.from(jwt.signed, 'latin1'), keyInput(algorithm, publicKey), jwt.signature);
}

/** The algorithm for signing with a key of this type. */
export function algorithmFor(key: KeyObject): string {
  const name = Object.keys(algorithms).find((algorithmName) => fits(algorithms[algorithmName] as Algorithm, key));
  if (name === undefined) throw new Error('tokens are signed with RSA keys of 2048 bits or more, or with P-256, P-384 or P-521 keys');
  return name;
}

const keyIds = new WeakMap<KeyObject, string>();

/** A key ID that is derived from the key itself. */
export function keyIdOf(key: KeyObject): string {
  const knownId = keyIds.get(key);
  if (knownId !== undefined) return knownId;
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(spki).digest('base64url');
  keyIds.set(key, id);
  return id;
}

const signInThread = promisify(signBytes);

const part = (value: unknown): string => Buffer.from(jsonText(value)).toString('base64url');

/** Signs in a thread of its own: with an RSA key it takes milliseconds, and many may ask at once. */
export async function signJwt(claims: Claims, privateKey: KeyObject): Promise<string> {
  const alg = algorithmFor(privateKey);
  const signed = `${part({ alg, kid: keyIdOf(privateKey) })}.${part(claims)}`;
  const algorithm = own(algorithms, alg) as Algorithm;
  const signature = await signInThread(algorithm.digest, Buffer.from(signed, 'latin1'), keyInput(algorithm, privateKey));
  return `${signed}.${signature.toString('base64url')}`;
}

/** A public key in the format of key sets. */
export function toJwk(key: KeyObject): Record<string, string> {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return {
    use: 'sig',
    kid: keyIdOf(publicKey),
    alg: algorithmFor(publicKey),
    ...(publicKey.export({ format: 'jwk' }) as Record<string, string>),
  };
}

/** Whole seconds of a time claim; undefined if there is none. A claim that is not a number is invalid. */
export function timeClaim(claims: Claims, name: string): number | undefined {
  const value = own(claims, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`claim ${name} is not a time`);
  return value;
}

/** The audience claim may be one text or a list. */
export function audienceClaim(claims: Claims): string[] {
  const value = claims.aud;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((audience): audience is string => typeof audience === 'string') : [];
}
