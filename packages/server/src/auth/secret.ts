/** Secrets are compared and cached by a salted hash only. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Random per process: cached hashes are of no use elsewhere, and cache keys cannot be chosen by clients. */
const salt = randomBytes(32).toString('base64');

/** A key for caches and tables of secrets. */
export const secretKey = (secret: string): string => hash('sha256', salt + secret, 'base64url');

/** Compares in constant time. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', salt + a, 'buffer'), hash('sha256', salt + b, 'buffer'));
}
