/**
 * Changes of kinds as they happen. A watch says only that a kind has changed; what changed, and who did it, is read from its history,
 * after what was read before. So changes that no watch told are shown, too. A watch takes a connection: of many kinds those with the
 * newest changes have one, and the others are read now and then. The states:
 *
 *   following   watches are open; kinds of which they tell a change are read                         → lost when a watch or a read fails
 *   lost        watches are closed, and begin anew after a while; the wait grows with each failure   → following
 */
import { Client } from '@plat-dev/client/dynamic';
import { httpOver } from '@plat-dev/client/http-over';
import { Transport } from '@plat-dev/client/transport';
import { Following } from '@plat-dev/client/watch';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, kubernetes } from '@plat-dev/meta/identity';
import { userAgent } from '../program.ts';
import { typeName, type Work } from '../work.ts';
import { type Change, changesOf, type HistoryPlace, type SeenVersions } from './versions.ts';

/** Changes that are read at a time; of more the newest are shown. */
export const MOST_CHANGES = 500;
const PAGE = 20;
export const MOST_WATCHES = 32;
/** How often kinds without a watch are read. */
export const POLL_MS = 30_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

const BEGUN_ANEW = 'the watches begin anew: changes of meanwhile are read from history, and those that it does not keep are missing';

export class ChangeFollower {
  private readonly work: Work;
  private readonly show: (change: Change) => void;
  private readonly isWanted: (change: Change) => boolean;
  /** Places that are followed. */
  private readonly seen: Map<HistoryPlace, SeenVersions>;
  private readonly watches = new Map<HistoryPlace, Following<ApiObject>>();
  /** Those of them that have no watch. */
  private readonly polled: Set<HistoryPlace>;
  /** Places that have changed since they were read. */
  private changed = new Set<HistoryPlace>();
  private failure: Error | undefined;
  private failures = 0;
  private lastNote = '';
  private wake: () => void = () => {};
  /** Watches have connections of their own: requests would wait for one of theirs. */
  private readonly streams: Transport;
  private readonly client: Client;

  constructor(
    work: Work,
    read: ReadonlyMap<HistoryPlace, SeenVersions>,
    isWanted: (change: Change) => boolean,
    show: (change: Change) => void,
  ) {
    const { session, io, signal } = work;
    this.work = work;
    this.isWanted = isWanted;
    this.show = show;
    const followed = [...read].filter(([{ resource }]) => resource.verbs.includes('watch')).sort(([, a], [, b]) => b.time - a.time);
    this.polled = new Set(followed.slice(MOST_WATCHES).map(([place]) => place));
    // The time of the newest change is known when all changes were read, and not only those that the user asked for.
    this.seen = new Map(followed.map(([place, { version }]) => [place, { version, time: Number.POSITIVE_INFINITY }]));
    const agent = userAgent(io);
    this.streams = new Transport(session.connection, agent, io.clock, { maxSockets: MOST_WATCHES, signal });
    this.client = new Client(httpOver(this.streams), { userAgent: agent, metadataGroup: groupName(kubernetes, 'meta') });
  }
  /** Until the command is interrupted, or nothing can be followed any more. */
  async run(): Promise<void> {
    const { io, signal } = this.work;
    signal.addEventListener('abort', () => this.wake(), { once: true });
    if (this.polled.size > 0)
      this.note(`${this.polled.size} types are read every ${POLL_MS / 1000} s; --kind names those to follow at once`);
    const stopPolling = io.clock.every(POLL_MS, () => this.polled.forEach((place) => void this.ring(place)));
    try {
      while (!signal.aborted && this.seen.size > 0) {
        for (const place of this.seen.keys()) if (!this.watches.has(place) && !this.polled.has(place)) this.watch(place);
        if (this.failure !== undefined) await this.waitFor(this.failure);
        else if (this.changed.size > 0) await this.readChanged();
        else await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      stopPolling();
      this.stopAll();
      this.streams.close();
    }
  }

  private watch(place: HistoryPlace): void {
    const { client } = this;
    const { resource, namespace } = place;
    let isFirst = true;
    const options = {
      ...{ client, resource, clock: this.work.io.clock, spread: () => 0.5, metadataOnly: true, changesOnly: true },
      ...(namespace !== undefined && { namespace }),
      report: (error: unknown) => this.failed(place, error as Error),
    };
    const watch = new Following<ApiObject>(options, {
      begin: () => {
        if (!isFirst) this.note(BEGUN_ANEW);
        isFirst = false;
      },
      listed: () => {},
      complete: () => this.ring(place),
      changed: () => this.ring(place),
    });
    this.watches.set(place, watch);
    watch.start();
  }
  private ring(place: HistoryPlace): void {
    this.changed.add(place);
    this.wake();
  }
  private failed(place: HistoryPlace, error: Error): void {
    if (error instanceof ApiError && [403, 404, 405].includes(error.code)) this.leave(place, error.message);
    else this.failure ??= error;
    this.wake();
  }
  private leave(place: HistoryPlace, why: string): void {
    this.watches.get(place)?.stop();
    this.seen.delete(place);
    this.polled.delete(place);
    this.changed.delete(place);
    this.note(`${typeName(place.resource)} is no longer followed: ${why}`);
  }
  private stopAll(): void {
    for (const watch of this.watches.values()) watch.stop();
    this.watches.clear();
  }
  /** All watches are lost together, and begin anew: a server that comes back with another store has lower versions, for which none would wait. */
  private async waitFor(error: Error): Promise<void> {
    const { io, signal } = this.work;
    if (this.failures === 0) this.note(`changes cannot be followed, retrying: ${error.message}`);
    this.stopAll();
    await io.clock.sleep(Math.min(FIRST_WAIT_MS * 2 ** this.failures++, LONGEST_WAIT_MS), signal).catch(() => {});
    this.failure = undefined;
  }
  /** All kinds may have the same to say. */
  private note(text: string): void {
    if (text !== this.lastNote) this.work.io.err(`note: ${text}\n`);
    this.lastNote = text;
  }

  private async readChanged(): Promise<void> {
    const places = [...this.changed];
    const asked = places.map((place) => ({ ...place, after: this.seen.get(place) as SeenVersions }));
    this.changed = new Set();
    try {
      const { changes, read, isCut } = await changesOf(this.work, asked, { pageSize: PAGE }, MOST_CHANGES, this.isWanted);
      for (const [index, place] of places.entries()) {
        const seen = read.get(asked[index] as HistoryPlace);
        if (seen === undefined) this.leave(place, 'its history cannot be read');
        else this.seen.set(place, seen);
      }
      if (isCut) this.note(`only the last ${MOST_CHANGES} changes are shown`);
      if (this.failures > 0) this.note(BEGUN_ANEW);
      this.failures = 0;
      for (const change of changes.toReversed()) this.show(change);
    } catch (error) {
      if (!this.work.signal.aborted) this.failure ??= error as Error;
    }
  }
}
