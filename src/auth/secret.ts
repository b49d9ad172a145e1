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

interface Entry<V> {
  readonly value: V;
  readonly until: number;
}

/** Remembers up to `limit` values for a time each; the one not used for longest makes room. */
export class BoundedCache<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private readonly limit: number;
  private readonly now: () => number;

  constructor(limit: number, now: () => number) {
    this.limit = limit;
    this.now = now;
  }
  get size(): number {
    return this.entries.size;
  }
  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    if (this.now() >= entry.until) return undefined;
    this.entries.set(key, entry);
    return entry.value;
  }
  set(key: string, value: V, milliseconds: number): void {
    this.entries.delete(key);
    if (milliseconds <= 0) return;
    if (this.entries.size >= this.limit) {
      const oldest = this.entries.keys().next();
      if (oldest.done !== true) this.entries.delete(oldest.value);
    }
    this.entries.set(key, { value, until: this.now() + milliseconds });
  }
  delete(key: string): void {
    this.entries.delete(key);
  }
  clear(): void {
    this.entries.clear();
  }
}
