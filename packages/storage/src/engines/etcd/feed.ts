/**
 * Follows the changes after a revision: one watch over the engine's keys, taken up again after every break where it was.
 *
 *   connecting → watching → waiting → connecting → … → ended
 *
 * Nothing is lost: a watch starts *at* the last revision delivered, not after it, so that etcd refuses it when that
 * revision is compacted (it would keep silent about a deletion that was compacted away exactly there). Nothing is doubled:
 * what comes up to that revision is dropped. Memory is bounded: an answer is taken only when the one before is delivered,
 * and of an answer in fragments only the last commit, which may be incomplete, is held back.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { type ChangeRecord, Compacted, StoreUnavailable, type Subscriber } from '../../engine.ts';
import type { MessageStream } from '../../grpc/message-stream.ts';
import type { Connection } from './connection.ts';
import { Deletions } from './deletions.ts';
import { EMPTY_REQUEST, type Method, memberStatus } from './messages.ts';
import { encodeProgressRequest, encodeWatch, type OwnRecord, type WatchAnswer } from './watch-messages.ts';

export interface FeedSource {
  readonly connection: Connection;
  readonly clock: Clock;
  /** `delivered`: changes up to this revision need not be decoded. */
  watch(delivered: () => number): Method<WatchAnswer | undefined>;
  /** Before every key, and the range of keys to watch. */
  readonly root: string;
  readonly start: string;
  readonly end: string;
  /** The newest revision of the store itself. */
  currentRevision(): Promise<number>;
  /** Writes something that the watch will see. */
  barrier(): Promise<unknown>;
  /** Called with the engine's own records, as they are written. */
  own(record: OwnRecord): void;
  notice(message: string): void;
}

/** Answers that may be lined up before no more are read. */
const MOST_QUEUED = 32;
/** Own commits that may wait for those before them; further ones are delivered by the watch. */
export const MOST_EARLY = 256;
/** A watch that is not confirmed in this time is given up. */
const CREATED_WITHIN_MS = 10_000;
/**
 * How long a revision that is needed may take to arrive before it is requested. Short where the last one did not
 * come by itself, since others write to the same etcd; long where it was only late. A watch on the past waits up to 100 ms
 * for etcd's next round of catching up.
 */
const SHORT_GRACE_MS = 10;
export const LONG_GRACE_MS = 150;
const ASK_AGAIN_MS = 50;

export class Feed {
  /** Everything up to here was delivered. */
  delivered: number;
  #state: 'connecting' | 'watching' | 'waiting' | 'ended' = 'connecting';
  readonly #source: FeedSource;
  readonly #deliver: Subscriber;
  readonly #failed: (error: Error) => void;
  #stream: MessageStream<WatchAnswer> | undefined;
  /** Whether the server's answer to a request for progress can be trusted. */
  #progress = false;
  #graceMs = LONG_GRACE_MS;
  #isProgressRequested = false;
  /** Changes of the newest commit of a fragment, until the rest of it comes. */
  #fragmentChanges: ChangeRecord[] = [];
  /** Answers behind one whose deletions are looked up. */
  #queue: WatchAnswer[] = [];
  #draining: Promise<void> | undefined;
  /** Why the answers that were lined up could not be taken. */
  #broken: Error | undefined;
  /** Own commits that were answered before those before them were delivered, by revision. */
  readonly #early = new Map<number, readonly ChangeRecord[]>();
  /** Newest revision that a caller waits for. */
  #needed = 0;
  #cancelAsking: (() => void) | undefined;
  #attempts = 0;

  constructor(source: FeedSource, after: number, deliver: Subscriber, failed: (error: Error) => void) {
    this.#source = source;
    this.delivered = after;
    this.#deliver = deliver;
    this.#failed = failed;
    void this.#run();
  }

  /** A caller waits for this revision: if no key here changed at it, it is requested. */
  need(revision: number): void {
    if (revision <= this.delivered || this.#state === 'ended') return;
    if (revision > this.#needed) this.#needed = revision;
    if (this.#cancelAsking === undefined) this.#askLater(this.#graceMs);
  }

  /**
   * A commit of this process was answered: its changes are delivered at once if all before them were, and what the watch
   * says of them later is dropped. Returns false if only the watch will deliver them.
   */
  committed(changes: readonly ChangeRecord[], revision: number): boolean {
    if (revision <= this.delivered) return true;
    if (this.#state !== 'watching') return false;
    if (revision === this.delivered + 1) this.#pass(changes, revision);
    else if (this.#early.size < MOST_EARLY) this.#early.set(revision, changes);
    else return false;
    return true;
  }

  /** Ends it without a word. */
  end(): void {
    this.#state = 'ended';
    this.#cancelAsking?.();
    this.#stream?.cancel();
    this.#fragmentChanges = [];
    this.#early.clear();
  }

  fail(error: Error): void {
    if (this.#state === 'ended') return;
    this.end();
    this.#failed(error);
  }

  async #run(): Promise<void> {
    // A subscriber gets no events before the subscription is confirmed.
    await null;
    for (;;) {
      if (this.#over()) return;
      try {
        this.#state = 'connecting';
        await this.#watch();
      } catch (error) {
        if (this.#over()) return;
        if (error instanceof Compacted || error instanceof Unfollowable) return this.fail(error);
        if (this.#attempts === 0) this.#source.notice(`the watch on etcd was interrupted: ${(error as Error).message}`);
      }
      if (this.#over()) return;
      this.#state = 'waiting';
      await this.#source.connection.sleep(this.#source.connection.pauseAfter(this.#attempts++));
    }
  }

  /** One watch, until it breaks. */
  async #watch(): Promise<void> {
    const { connection, watch, start, end } = this.#source;
    const endpoint = await connection.ready(connection.deadline());
    const { version } = await connection.callOn(endpoint, memberStatus, EMPTY_REQUEST, connection.deadline());
    if (this.#attempts > 0) await this.#checkSameStore();
    if (this.#over()) return;
    this.#progress = canReportProgress(version);
    this.#graceMs = LONG_GRACE_MS;
    this.#isProgressRequested = false;
    this.#fragmentChanges = [];
    const deletions = new Deletions(connection, endpoint, this.#source.root);
    const stream = connection.stream(
      endpoint,
      watch(() => this.delivered),
    );
    this.#stream = stream;
    const cancelTimer = this.#source.clock.after(CREATED_WITHIN_MS, () => stream.cancel());
    try {
      stream.write(encodeWatch({ key: start, end, from: Math.max(1, this.delivered) }));
      for await (const answer of stream) {
        // Answers that came before the end of this feed are still read.
        if (this.#over()) return;
        if (answer.created) {
          cancelTimer();
          this.#state = 'watching';
          this.#attempts = 0;
        }
        await this.#accept(answer, deletions, stream);
        if (this.#over()) return;
      }
      await this.#draining;
      if (this.#broken !== undefined) throw this.#broken;
    } catch (error) {
      connection.avoid(endpoint);
      throw this.#broken ?? error;
    } finally {
      cancelTimer();
      stream.cancel();
      this.#stream = undefined;
      // What comes next may be another store.
      this.#early.clear();
      // What is lined up belongs to this watch and must be done with before the next one begins.
      await this.#draining;
      this.#queue = [];
      this.#broken = undefined;
    }
  }

  /** Takes an answer at once, or lines it up behind one that waits for what is to be known of its deletions. */
  #accept(answer: WatchAnswer, deletions: Deletions, stream: MessageStream<WatchAnswer>): Promise<void> | undefined {
    // Answers that came before the stream was cancelled are still read from it: they would be delivered without the one that failed.
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#draining === undefined && answer.deletions === 0) {
      this.#take(answer);
      return undefined;
    }
    this.#queue.push(answer);
    this.#draining ??= this.#drain(deletions, stream);
    return this.#queue.length >= MOST_QUEUED ? this.#draining : undefined;
  }

  async #drain(deletions: Deletions, stream: MessageStream<WatchAnswer>): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        this.#queue = [];
        await deletions.fill(batch, this.delivered);
        for (const answer of batch) {
          if (this.#over()) return;
          this.#take(answer);
        }
      }
    } catch (error) {
      this.#broken = error as Error;
      stream.cancel();
    } finally {
      this.#draining = undefined;
    }
  }

  #take(answer: WatchAnswer): void {
    if (answer.canceled) {
      if (answer.compacted > 0) throw new Compacted(answer.compacted);
      // Etcd 3.4 says so, too, of a token that it has forgotten.
      if (/permission denied|invalid auth token/.test(answer.reason)) this.#source.connection.loggedOut();
      throw new Error(answer.reason || 'etcd ended the watch');
    }
    for (const record of answer.own) this.#source.own(record);
    if (answer.newest > 0) this.#takeChanges(answer);
    // Without events an answer says that everything up to its revision was sent.
    else if (!answer.created && (answer.watch >= 0 || this.#progress)) this.#pass([], answer.revision);
  }

  #takeChanges({ changes, newest, fragment }: WatchAnswer): void {
    const all = this.#fragmentChanges.length > 0 ? this.#fragmentChanges.concat(changes) : changes;
    let from = 0;
    while (from < all.length && (all[from] as ChangeRecord).revision <= this.delivered) from++;
    let to = all.length;
    if (fragment) while (to > from && (all[to - 1] as ChangeRecord).revision >= newest) to--;
    this.#fragmentChanges = fragment ? all.slice(Math.max(from, to)) : [];
    const whole = from === 0 && to === all.length ? all : all.slice(from, to);
    this.#pass(whole, fragment ? newest - 1 : newest);
  }

  #pass(changes: readonly ChangeRecord[], revision: number): void {
    if (revision <= this.delivered) return;
    this.delivered = revision;
    if (this.#isProgressRequested) this.#graceMs = changes.length === 0 ? SHORT_GRACE_MS : LONG_GRACE_MS;
    this.#isProgressRequested = false;
    try {
      this.#deliver(changes, revision);
    } catch (error) {
      this.fail(error as Error);
    }
    if (this.#early.size > 0) this.#passEarly();
  }

  #passEarly(): void {
    for (const revision of this.#early.keys()) if (revision <= this.delivered) this.#early.delete(revision);
    const next = this.#early.get(this.delivered + 1);
    if (next !== undefined) this.#pass(next, this.delivered + 1);
  }

  #askLater(milliseconds: number): void {
    const { delivered } = this;
    const needed = this.#needed;
    this.#cancelAsking = this.#source.clock.after(milliseconds, () => {
      this.#cancelAsking = undefined;
      if (this.#over() || this.#needed <= this.delivered) return;
      // A watch that moves is only late, and what is needed since then had no time to come.
      const stuck = this.delivered === delivered && this.delivered < needed && this.#state === 'watching';
      if (stuck) this.#ask();
      this.#askLater(stuck ? ASK_AGAIN_MS : this.#graceMs);
    });
  }

  #ask(): void {
    this.#isProgressRequested = true;
    if (this.#progress) this.#stream?.write(encodeProgressRequest());
    else this.#source.barrier().catch(() => {});
  }

  /** A store that was set back, from a backup say, has other changes at revisions that were delivered already. */
  async #checkSameStore(): Promise<void> {
    const revision = await this.#source.currentRevision();
    if (revision >= this.delivered) return;
    throw new Unfollowable(`etcd is at revision ${revision}, although it had been at ${this.delivered}: the store was replaced`);
  }

  #over(): boolean {
    return this.#state === 'ended';
  }
}

/** The changes cannot be followed any further. */
class Unfollowable extends StoreUnavailable {}

/**
 * Older servers may report progress before they have sent the events up to it, or not at all for a watch that has seen no
 * event (etcd issues 15220 and 17507, fixed in 3.4.31 and 3.5.13).
 */
export function canReportProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor > 5;
}
