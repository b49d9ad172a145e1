/**
 * Commits of the embedded store. This process is the only writer: expectations are checked and revisions assigned in memory,
 * against writes that are not durable yet, and the disk is needed only for durability.
 *
 *   commit → checked and numbered at once → waits for its group → journal, one fsync → visible → resolved
 */
import type { Clock } from '@plat-dev/lib/clock';
import { type ChangeRecord, CommitConflict, type Operation, StoreUnavailable } from '../../engine.ts';
import { checkOperations } from '../operations.ts';
import type { Backlog } from './backlog.ts';
import { type PendingChange, prepareChange } from './change.ts';
import { checkRoom, isFull, writeError } from './errors.ts';
import type { Version } from './format.ts';
import type { Journal } from './journal/journal.ts';
import type { NewestVersions } from './newest.ts';
import { GroupWriter, type Job } from './writer.ts';

/** Maximum commits that wait for the disk; further ones are refused. More than requests may be in flight. */
const MOST_WAITING = 20_000;
/** Maximum operations, by the size of the index within a commit. */
const MOST_OPERATIONS = 65_535;

export interface Committed {
  readonly revision: number;
}
/** A commit that waits for the journal; one without changes only waits for those before it. */
interface WaitingCommit extends Job, Committed {
  readonly changes: readonly PendingChange[];
  resolve(done: Committed): void;
  reject(error: Error): void;
}

export interface CommitsDeps {
  readonly dataDir: string;
  /** Free bytes of the disk. */
  readonly free: () => number;
  readonly clock: Clock;
  readonly newest: NewestVersions;
  readonly journal: Journal;
  readonly backlog: Backlog;
  /** Resolves when the tables record that a server runs. */
  readonly markOpen: () => Promise<void>;
  /** These changes are durable and visible. */
  readonly published: (records: readonly ChangeRecord[], revision: number) => void;
  /** A key with a time to live was written. */
  readonly expires: (time: number) => void;
}

export class Commits {
  /** The newest durable revision. */
  revision: number;
  readonly #deps: CommitsDeps;
  readonly #groups: GroupWriter<WaitingCommit>;
  /** The newest assigned revision; those after `revision` are not durable yet. */
  #assigned: number;

  constructor(revision: number, deps: CommitsDeps) {
    const { dataDir, free, backlog, clock } = deps;
    this.revision = revision;
    this.#assigned = revision;
    this.#deps = deps;
    this.#groups = new GroupWriter<WaitingCommit>({
      // Data in the journal is written to the tables later, and must find room there, too.
      admit: (bytes) => checkRoom(dataDir, free(), bytes + backlog.bytes),
      write: (jobs) => this.#append(jobs),
      durable: (jobs) => this.#publish(jobs),
      failed: (jobs, error) => this.#refuse(jobs, error),
      canRetry: isFull,
      monotonic: () => clock.monotonic(),
    });
  }

  get waiting(): number {
    return this.#groups.waiting;
  }
  get busyFor(): number {
    return this.#groups.busyFor;
  }
  get broken(): { readonly error: unknown } | undefined {
    return this.#groups.broken;
  }
  stop(error: unknown): void {
    this.#groups.stop(error);
  }
  /** Resolves when nothing is waiting or in progress. */
  idle(): Promise<void> {
    return this.#groups.idle();
  }
  /** The revisions up to here are left out. Nothing may wait. */
  skipTo(revision: number): void {
    this.#assigned = revision;
    this.revision = revision;
  }

  /** Throws where nothing was done; rejects later. */
  commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<Committed> {
    checkOperations(operations);
    if (operations.length > MOST_OPERATIONS) throw new TypeError(`a commit has more than ${MOST_OPERATIONS} operations`);
    if (this.#groups.waiting >= MOST_WAITING) throw new StoreUnavailable('too many writes wait for the disk');
    const { newest: versions, clock } = this.#deps;
    // Nothing is written or numbered before all expectations are checked.
    const changes: PendingChange[] = [];
    const revision = this.#assigned + 1;
    const time = clock.now();
    for (const operation of operations) {
      const { key, expect } = operation;
      const newest = versions.of(key);
      if (expect !== undefined && (newest === undefined || newest.deleted ? 0 : newest.revision) !== expect)
        return this.#refuseConflict(key, newest);
      if (operation.type === 'check') continue;
      const change = prepareChange(operation, newest, { revision, time, index: changes.length });
      if (change !== undefined) changes.push(change);
    }
    if (changes.length === 0) return this.#visible(this.#assigned);
    this.#assigned = revision;
    for (const { change, version } of changes) versions.set(change.key, version);
    assigned?.(revision);
    return this.#add(changes, revision);
  }

  /** The loser of a conflict can read the winner's write at once. */
  async #refuseConflict(key: string, newest: Version | undefined): Promise<never> {
    await this.#visible(newest?.revision ?? 0);
    throw new CommitConflict(key);
  }

  /** Resolves when the changes are durable and visible. Changes are numbered in the order of these calls. */
  #add(changes: readonly PendingChange[], revision: number): Promise<Committed> {
    let bytes = 0;
    for (const { record } of changes) bytes += record.length;
    return new Promise((resolve, reject) => this.#groups.add({ changes, revision, bytes, resolve, reject }));
  }

  /** Resolves when an assigned revision is visible. */
  #visible(revision: number): Promise<Committed> {
    // Later writes become durable after it, or together with it.
    return revision <= this.revision ? Promise.resolve({ revision }) : this.#add([], revision);
  }

  async #append(jobs: readonly WaitingCommit[]): Promise<void> {
    const { markOpen, backlog, journal } = this.#deps;
    await markOpen();
    await backlog.room();
    const all: PendingChange[] = [];
    for (const { changes } of jobs) for (const change of changes) all.push(change);
    await journal.append(all, backlog.applied);
  }

  #publish(jobs: readonly WaitingCommit[]): void {
    const { backlog, newest: versions, expires, published } = this.#deps;
    const records: ChangeRecord[] = [];
    for (const { changes } of jobs) {
      backlog.add(changes);
      for (const { change, version } of changes) {
        records.push(change);
        versions.durable(change.key, version);
        if (version.expires > 0) expires(version.expires);
      }
    }
    const newest = records[records.length - 1];
    if (newest !== undefined) {
      this.revision = newest.revision;
      published(records, newest.revision);
    }
    for (const job of jobs) job.resolve({ revision: job.revision });
  }

  /** The jobs failed: their revisions are assigned again. */
  #refuse(jobs: readonly WaitingCommit[], cause: unknown): void {
    this.#assigned = this.revision;
    this.#deps.newest.takeBack(jobs.flatMap(({ changes }) => changes));
    const error = writeError(this.#deps.dataDir, cause);
    for (const job of jobs) job.reject(error);
  }
}
