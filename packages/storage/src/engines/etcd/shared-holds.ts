/**
 * Held revisions, for all servers on one etcd: a record `<prefix>.hold.<id>` with the revision, which
 * every compaction reads first. It has a lease, so that a server that crashes does not hold history forever.
 */
import type { Random } from '@plat-dev/lib/random';
import type { Connection } from './connection.ts';
import { endOfPrefix, type Keyspace } from './keyspace.ts';
import {
  encodeLease,
  encodeLeaseGrant,
  encodePut,
  encodeRange,
  leaseGrant,
  leaseRevoke,
  type Method,
  putMethod,
  type RangeAnswer,
} from './messages.ts';

export class SharedHolds {
  readonly #connection: Connection;
  readonly #prefix: string;
  readonly #range: Method<RangeAnswer>;
  readonly #random: Random;

  constructor(connection: Connection, { holds }: Keyspace, range: Method<RangeAnswer>, random: Random) {
    this.#connection = connection;
    this.#prefix = holds;
    this.#range = range;
    this.#random = random;
  }

  /** Returns the function that ends it. */
  async add(revision: number, milliseconds: number): Promise<() => Promise<void>> {
    const { id } = await this.#connection.read(leaseGrant, encodeLeaseGrant(Math.max(1, Math.ceil(milliseconds / 1000))));
    const record = encodePut(`${this.#prefix}${this.#random.uuid()}`, Buffer.from(String(revision)), id);
    await this.#connection.write(putMethod, record);
    return async () => {
      await this.#connection.read(leaseRevoke, encodeLease(id));
    };
  }

  /** The revision that may be compacted to: `revision`, or the oldest held one. */
  async bound(revision: number): Promise<number> {
    const query = encodeRange({ key: this.#prefix, end: endOfPrefix(this.#prefix) });
    const { entries } = await this.#connection.read(this.#range, query);
    return Math.min(revision, ...entries.map(({ value }) => Number(value.toString()) || 0));
  }
}
