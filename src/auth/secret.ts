/** Secrets are never compared or kept as they are: both go by a salted hash. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Fresh for each process: what a cache holds says nothing about secrets elsewhere, nor can its keys be steered. */
const salt = randomBytes(32).toString('base64');

/** A key for caches and tables of secrets. */
export const secretKey = (secret: string): string => hash('sha256', salt + secret, 'base64url');

/** Compares in a time that does not depend on where two secrets differ. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', salt + a, 'buffer'), hash('sha256', salt + b, 'buffer'));
}
