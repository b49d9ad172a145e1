/** The feeds of the store in etcd: one for each subscriber, and one for each read of past changes. */
import type { Clock } from '@plat-dev/lib/clock';
import { type ChangeRecord, Compacted, StoreUnavailable, type Subscriber } from '../../engine.ts';
import type { Connection } from './connection.ts';
import { CLOSED } from './errors.ts';
import { Feed, type FeedSource } from './feed.ts';
import type { Keyspace } from './keyspace.ts';
import { EMPTY_REQUEST, encodePut, type Method, putMethod } from './messages.ts';
import type { OwnValues } from './own-values.ts';
import { type WatchAnswer, watchMethod } from './watch-messages.ts';

export interface FeedsDeps {
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly clock: Clock;
  readonly ownValues: OwnValues;
  /** The newest revision of the store itself. */
  currentRevision(): Promise<number>;
  /** Called with each revision that arrives. */
  arrived(revision: number): void;
  /** Called with revisions up to which the store is compacted. */
  compacted(revision: number): void;
  notice(message: string): void;
}

export class Feeds {
  readonly #deps: FeedsDeps;
  readonly #source: FeedSource;
  readonly #feeds = new Set<Feed>();
  #barrier: Promise<unknown> | undefined;
  #closed = false;

  constructor(deps: FeedsDeps) {
    const { connection, keyspace, clock, currentRevision, notice } = deps;
    this.#deps = deps;
    this.#source = {
      connection,
      clock,
      watch: (delivered) => this.watch(delivered),
      root: keyspace.root,
      start: keyspace.watchStart,
      end: keyspace.watchEnd,
      currentRevision,
      barrier: () => this.#writeBarrier(),
      own: ({ name, value }) => {
        if (keyspace.compaction.endsWith(name)) deps.compacted(Number(value.toString()) || 0);
      },
      notice,
    };
  }

  get size(): number {
    return this.#feeds.size;
  }

  watch(delivered?: () => number): Method<WatchAnswer | undefined> {
    const { keyspace, ownValues } = this.#deps;
    return watchMethod(keyspace, (key, message, start, end) => ownValues.find(key, message, start, end), delivered);
  }

  /** A commit of this process. Returns whether all feeds take it at once, without the watch. */
  committed(changes: readonly ChangeRecord[], revision: number): boolean {
    let all = true;
    for (const feed of this.#feeds) if (!feed.committed(changes, revision)) all = false;
    return all;
  }

  /** A caller knows this revision, and may wait for it. */
  need(revision: number): void {
    for (const feed of this.#feeds) feed.need(revision);
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    const feed = this.#start(after, deliver, failed);
    return () => this.#end(feed);
  }

  /** The changes after a revision up to another one, until there are as many as the limit, which never splits a commit. */
  async changes(after: number, until: number, prefix: string, limit: number): Promise<ChangeRecord[]> {
    const changeRecords: ChangeRecord[] = [];
    await this.#follow(after, until, (changes) => {
      for (const change of changes) {
        if (changeRecords.length >= limit && change.revision !== changeRecords.at(-1)?.revision) return true;
        if (change.key.startsWith(prefix)) changeRecords.push(change);
      }
      return changeRecords.length >= limit;
    });
    return changeRecords;
  }

  close(): void {
    this.#closed = true;
    for (const feed of [...this.#feeds]) feed.fail(new StoreUnavailable(CLOSED));
  }

  #start(after: number, deliver: Subscriber, failed: (error: Error) => void): Feed {
    const feed = new Feed(
      this.#source,
      after,
      (changes, revision) => {
        this.#deps.arrived(revision);
        deliver(changes, revision);
      },
      (error) => {
        this.#end(feed);
        if (error instanceof Compacted) this.#deps.compacted(error.oldest);
        failed(error);
      },
    );
    this.#feeds.add(feed);
    this.#deps.ownValues.isEnabled = true;
    if (this.#closed) queueMicrotask(() => feed.fail(new StoreUnavailable(CLOSED)));
    return feed;
  }

  #end(feed: Feed): void {
    feed.end();
    this.#feeds.delete(feed);
    this.#deps.ownValues.isEnabled = this.#feeds.size > 0;
  }

  /** Reads the changes after a revision up to another one, or until `take` has enough. */
  #follow(after: number, until: number, take: (changes: readonly ChangeRecord[]) => boolean): Promise<void> {
    const { connection } = this.#deps;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        cancel();
        this.#end(feed);
        settle();
      };
      const giveUp = () => finish(() => reject(new StoreUnavailable('the watch of etcd does not deliver changes')));
      let cancel = connection.after(connection.timeoutMs, giveUp);
      const deliver: Subscriber = (changes, revision) => {
        cancel();
        cancel = connection.after(connection.timeoutMs, giveUp);
        if (take(changes) || revision >= until) finish(resolve);
      };
      const feed = this.#start(after, deliver, (error) => finish(() => reject(error)));
      feed.need(until);
    });
  }

  /** One write is enough for all concurrent callers. */
  #writeBarrier(): Promise<unknown> {
    const { connection, keyspace } = this.#deps;
    this.#barrier ??= connection.write(putMethod, encodePut(keyspace.barrier, EMPTY_REQUEST)).finally(() => {
      this.#barrier = undefined;
    });
    return this.#barrier;
  }
}
