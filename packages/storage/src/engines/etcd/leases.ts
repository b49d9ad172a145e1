/**
 * Times to live. A key lives as long as its lease, and leases are expensive, so writes share them: a TTL
 * is rounded up a little, and a lease is reused while it lives long enough.
 *
 *   ttl 3600 → a lease of 3660 s, shared by the writes of the next 60 s, at most 1000 of them
 *   ttl 15   → a lease of 16 s, shared by the writes of the next second
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import type { Connection } from './connection.ts';
import { encodeLeaseGrant, leaseGrant } from './messages.ts';

interface Lease {
  readonly id: bigint;
  /** Until when it certainly lives. */
  readonly expiresAt: number;
  uses: number;
}

/** A key lives at most this fraction of its TTL longer, and at most this long. */
const SHARE = 1 / 20;
const LONGEST_EXTRA_SECONDS = 60;
/** Etcd deletes the keys of a lease in one transaction, which this keeps small. */
const MOST_USES = 1_000;
/** Maximum leases remembered, one per distinct TTL; the oldest is dropped first, and expires by itself. */
const MOST_LEASES = 64;
const LONGEST_TTL_SECONDS = 9_000_000_000;

export class Leases {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #current = new BoundedCache<number, Promise<Lease>>(MOST_LEASES);

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** A lease that lives at least this many seconds from now. */
  async leaseFor(ttlSeconds: number): Promise<bigint> {
    const extra = extraFor(ttlSeconds);
    const length = roundUp(ttlSeconds, extra);
    for (;;) {
      const currentLease = this.#current.get(length);
      const pending = currentLease ?? this.#grant(length, extra);
      const lease = await pending;
      if (lease.uses < MOST_USES && lease.expiresAt >= this.#clock.monotonic() + length * 1000) {
        lease.uses++;
        return lease.id;
      }
      if (this.#current.get(length) === pending) this.#current.delete(length);
      if (currentLease === undefined) return lease.id;
    }
  }

  /** Etcd no longer knows some lease: none is reused. */
  forget(): void {
    this.#current.clear();
  }

  #grant(length: number, extra: number): Promise<Lease> {
    const requestedAt = this.#clock.monotonic();
    const seconds = length + extra;
    // A lost response leaves a lease without keys, which expires by itself; so a retry is harmless.
    const granted = this.#connection.read(leaseGrant, encodeLeaseGrant(seconds)).then(({ id, ttlSeconds }) => {
      return { id, expiresAt: requestedAt + Math.max(seconds, ttlSeconds) * 1000, uses: 0 };
    });
    this.#current.set(length, granted);
    granted.catch(() => {
      if (this.#current.get(length) === granted) this.#current.delete(length);
    });
    return granted;
  }
}

function extraFor(ttlSeconds: number): number {
  return Math.max(1, Math.min(LONGEST_EXTRA_SECONDS, Math.floor(ttlSeconds * SHARE)));
}

/** Similar TTLs become the same one. */
function roundUp(ttlSeconds: number, step: number): number {
  if (!(ttlSeconds > 0)) throw new RangeError(`a time to live of ${ttlSeconds} seconds is not more than nothing`);
  return Math.min(LONGEST_TTL_SECONDS - LONGEST_EXTRA_SECONDS, Math.ceil(ttlSeconds / step) * step);
}
