/**
 * The creation revision of deleted keys. Etcd would add it to each event of a watch, but only together with the
 * whole previous value and for every overwritten key too, which makes the watch much more expensive. Deletions are
 * rarer, so they are looked up: all that have arrived with one request, to the member that sent them.
 */
import type { ChangeRecord } from '../../engine.ts';
import type { Connection, Endpoint } from './connection.ts';
import { CallFailure } from './errors.ts';
import { encodeStatesBefore, transaction } from './transactions.ts';
import type { WatchAnswer } from './watch-messages.ts';

/** Half of the operations that etcd accepts in one transaction. */
const MOST_LOOKED_UP = 64;

interface Place {
  readonly changes: ChangeRecord[];
  readonly index: number;
  readonly change: ChangeRecord;
}

export class Deletions {
  readonly #connection: Connection;
  readonly #endpoint: Endpoint;
  readonly #root: string;

  constructor(connection: Connection, endpoint: Endpoint, root: string) {
    this.#connection = connection;
    this.#endpoint = endpoint;
    this.#root = root;
  }

  /** Sets the creation revision of keys deleted after a revision; 0 if that was compacted meanwhile. */
  async fill(answers: readonly WatchAnswer[], after: number): Promise<void> {
    const places: Place[] = [];
    for (const { changes, deletions } of answers) {
      if (deletions === 0) continue;
      for (const [index, change] of changes.entries()) {
        if (change.type === 'delete' && change.revision > after) places.push({ changes, index, change });
      }
    }
    for (let start = 0; start < places.length; start += MOST_LOOKED_UP) await this.#lookUp(places.slice(start, start + MOST_LOOKED_UP));
  }

  async #lookUp(places: readonly Place[]): Promise<void> {
    const deletions = places.map(({ change }) => change);
    const deadline = this.#connection.deadline();
    try {
      const { reads } = await this.#connection.callOn(this.#endpoint, transaction, encodeStatesBefore(this.#root, deletions), deadline);
      for (const [number, { changes, index, change }] of places.entries()) {
        changes[index] = { ...change, created: reads[number]?.created ?? 0 };
      }
    } catch (error) {
      if (!(error instanceof CallFailure && error.reason === 'compacted')) throw error;
      // One compacted revision fails the whole request, so the others are requested without it.
      if (places.length === 1) return;
      const half = places.length >> 1;
      await this.#lookUp(places.slice(0, half));
      await this.#lookUp(places.slice(half));
    }
  }
}
