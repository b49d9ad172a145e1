/** The log of the store in memory: the changes of each commit that is not compacted, oldest first. */
import type { ChangeRecord } from '../../engine.ts';
import { changeOf, type Version } from './version.ts';

interface LoggedCommit {
  readonly time: number;
  readonly changes: readonly Version[];
  readonly bytes: number;
}
export interface LogState {
  readonly commits: readonly LoggedCommit[];
  readonly start: number;
  readonly bytes: number;
}

/** Approximate overhead of a change in addition to its value: its key, its record and its version. */
const CHANGE_BYTES = 512;
/** Maximum commits that are read, or compacted, in one turn of the event loop. */
const SLICE = 1_000;

export class CommitLog {
  #commits: LoggedCommit[];
  #start: number;
  #bytes: number;

  constructor({ commits, start, bytes }: LogState = { commits: [], start: 0, bytes: 0 }) {
    this.#commits = commits.slice();
    this.#start = start;
    this.#bytes = bytes;
  }

  /** Revision before the first commit; at most the compacted one, since the log is trimmed step by step. */
  get start(): number {
    return this.#start;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get length(): number {
    return this.#commits.length;
  }
  state(): LogState {
    return { commits: this.#commits.slice(), start: this.#start, bytes: this.#bytes };
  }

  /** Adds the commit of the next revision. */
  add(time: number, changes: readonly Version[], valueBytes: number): void {
    const bytes = changes.reduce((sum, { note }) => sum + CHANGE_BYTES + (note?.length ?? 0), valueBytes);
    this.#commits.push({ time, changes, bytes });
    this.#bytes += bytes;
  }

  /** The changes of whole commits after a revision, until there are as many as the limit. */
  changes(after: number, prefix: string, limit = Number.POSITIVE_INFINITY): ChangeRecord[] {
    const changeRecords: ChangeRecord[] = [];
    for (let index = after - this.#start; index < this.#commits.length && changeRecords.length < limit; index++)
      for (const version of (this.#commits[index] as LoggedCommit).changes)
        if (version.key.startsWith(prefix)) changeRecords.push(changeOf(version));
    return changeRecords;
  }

  /** The changes of the first commits after a revision, and the revision of the last of these. */
  slice(after: number): { changes: ChangeRecord[]; revision: number } {
    const commits = this.#commits.slice(after - this.#start, after - this.#start + SLICE);
    return { changes: commits.flatMap(({ changes }) => changes.map(changeOf)), revision: after + commits.length };
  }

  /** The newest revision that was committed at or before a time; not below the one given. */
  revisionAt(time: number, least: number): number {
    for (let revision = least; ; revision++) {
      const commit = this.#commits[revision - this.#start];
      if (commit === undefined || commit.time > time) return revision;
    }
  }

  /** The revision up to which commits must go for the others to have so many bytes; the newest commit stays. */
  revisionLeaving(bytes: number): number {
    let remainingBytes = this.#bytes;
    let count = 0;
    while (count < this.#commits.length - 1 && remainingBytes > bytes) remainingBytes -= (this.#commits[count++] as LoggedCommit).bytes;
    return this.#start + count;
  }

  /** Drops the first commits up to a revision, as many as one turn has room for, and calls `visit` with each key and its revision. */
  drop(until: number, visit: (key: string, revision: number) => void): void {
    for (const { changes, bytes } of this.#commits.splice(0, Math.min(SLICE, until - this.#start))) {
      this.#start++;
      this.#bytes -= bytes;
      for (const { key } of changes) visit(key, this.#start);
    }
  }

  /** Drops everything: the next commit is the one after this revision. */
  restart(revision: number): void {
    this.#commits = [];
    this.#bytes = 0;
    this.#start = revision;
  }
}
