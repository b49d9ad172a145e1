/**
 * Compacts history. The log is scanned from where the last compaction ended: a record names the version that it superseded,
 * which is removed unless a rule of history keeps it (`kept-versions.ts`). Each step is a small transaction that also records its
 * progress, so that a crash loses nothing and the next start continues.
 */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { StoreUnavailable } from '../../engine.ts';
import type { HistoryPolicy, KeptVersion } from '../../history.ts';
import { addVersions } from './added-versions.ts';
import type { Position, StoredFacts, VersionKey } from './format.ts';
import { KeptVersions, newStep, OLDEST, type PassStep, soundFacts } from './kept-versions.ts';
import { bytesAfterCut } from './key-growth.ts';
import { type HistoryRow, readNumberRow, writeNumberRow } from './meta.ts';
import type { Tables } from './table.ts';

/** Records that are read in one turn of the event loop, which takes a millisecond or two. */
const STEP = 256;
/** Turns and changes of one transaction: it delays other writes no longer than they delay each other, and one for each turn costs more. */
const MOST_TURNS = 4;
const MOST_CHANGES = 1_024;

export interface CompactionState {
  /** The newest visible revision. */
  readonly revision: number;
  /** Oldest revision that can be read; raised here before anything is removed. */
  compacted: number;
  readonly stopped: boolean;
  /** The time, in milliseconds since 1970. */
  now(): number;
  /** The revision that may be compacted to, at most the requested one: not beyond a held revision. */
  bound(revision: number): number;
  /** Runs writes in a transaction; resolves when they are durable. */
  write(bytes: number, fill: () => void): Promise<void>;
}

/** A pass over the log up to a revision or a time. */
interface Pass {
  readonly after: number;
  readonly until: number;
  readonly time: number;
  /** Whether the step is complete before its records are. */
  isEnough?(step: PassStep): boolean;
  visit(step: PassStep, position: Position, facts: StoredFacts): void;
}

export class Compactor {
  readonly #tables: Tables;
  readonly #state: CompactionState;
  readonly #kept: KeptVersions;
  /** Everything up to this revision is pruned. */
  #pruned: number;
  #last: Promise<void> = Promise.resolve();

  constructor(tables: Tables, state: CompactionState, policy: HistoryPolicy | undefined) {
    this.#tables = tables;
    this.#state = state;
    this.#kept = new KeptVersions(tables, policy);
    this.#pruned = readNumberRow(tables.meta, 'pruned') ?? 0;
  }

  /** Bytes of versions that outlasted compaction. */
  get keptBytes(): number {
    return this.#kept.bytes;
  }

  /** Continues a compaction that the process did not finish; with other rules of history all that is kept is looked at again. */
  resume(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#kept.hasUnknownRules) return;
      await this.#useRules();
      await this.#prune(this.#state.compacted, Number.POSITIVE_INFINITY);
    });
  }

  /** Compacts history before a revision; resolves when that is done, by whatever call. */
  async toRevision(revision: number): Promise<void> {
    const bound = this.#state.bound(revision);
    if (bound <= this.#state.compacted) return this.#last;
    this.#state.compacted = bound;
    await this.#enqueue(async () => {
      await this.#prune(bound, Number.POSITIVE_INFINITY);
      await this.#removeSurplus();
    });
  }

  /** Compacts versions superseded before a time, and removes kept ones whose time is over. */
  toTime(time: number): Promise<void> {
    return this.#enqueue(async () => {
      await this.#prune(this.#state.bound(this.#state.revision), time);
      await this.#removeExpired();
      await this.#removeSurplus();
    });
  }

  /** Skips the revisions up to this one. Everything before must be pruned. */
  skipTo(revision: number): Promise<void> {
    return this.#enqueue(async () => {
      await this.#state.write(100, () => {
        writeNumberRow(this.#tables.meta, 'compacted', revision);
        writeNumberRow(this.#tables.meta, 'pruned', revision);
      });
      this.#pruned = revision;
      this.#state.compacted = revision;
    });
  }

  /** Adds versions of a backup. Throws RangeError unless their revisions are compacted ones. */
  add(versions: readonly KeptVersion[]): Promise<void> {
    return this.#enqueue(async () => {
      for (let start = 0; start < versions.length; start += STEP) {
        const added = addVersions(this.#tables, this.#kept, versions.slice(start, start + STEP), this.#pruned);
        await this.#write(added.bytes, added.row, added.fill);
      }
      await this.#removeSurplus();
    });
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run);
    this.#last = done.catch(() => {});
    return done;
  }

  async #useRules(): Promise<void> {
    const row = this.#kept.changedRules();
    if (row === undefined) return;
    const pruned = this.#kept.bytes > 0 ? 0 : this.#pruned;
    await this.#write(100, row, () => writeNumberRow(this.#tables.meta, 'pruned', pruned));
    this.#pruned = pruned;
  }

  async #prune(revision: number, time: number): Promise<void> {
    while (this.#pruned < revision) {
      const passes = new Map<string, number>();
      const { step, reached } = await this.#gather({
        after: this.#pruned,
        until: revision,
        time,
        visit: (step, position, facts) => this.#kept.compact(step, position, facts, passes),
      });
      if (reached === this.#pruned) return;
      this.#state.compacted = Math.max(this.#state.compacted, reached);
      const { compacted } = this.#state;
      await this.#apply(step, this.#kept.rowAfter(step, passes), () => {
        writeNumberRow(this.#tables.meta, 'compacted', compacted);
        writeNumberRow(this.#tables.meta, 'pruned', reached);
      });
      this.#pruned = reached;
    }
  }

  /** Removes kept versions that were superseded longer ago than their retention. */
  async #removeExpired(): Promise<void> {
    for (const name of this.#kept.passes.keys()) {
      const retention = Number(name);
      if (name === OLDEST || retention === Number.POSITIVE_INFINITY) continue;
      await this.#pass(name, this.#state.now() - retention, (key) => this.#kept.ruleOf(key)?.retentionMs === retention);
    }
  }

  /** Removes the oldest kept versions where there are too many bytes of a key, or of all. */
  async #removeSurplus(): Promise<void> {
    for (const key of this.#kept.takeGrown()) await this.#cutKey(key);
    if (!this.#kept.isTooMuch) return;
    const isEnough = (step: PassStep): boolean => this.#kept.isEnough(step);
    await this.#pass(OLDEST, Number.POSITIVE_INFINITY, (key) => this.#kept.ruleOf(key) !== undefined, isEnough);
  }

  /** Goes on with a pass: removes what the records of some keys superseded up to a time. */
  async #pass(name: string, time: number, isMeant: (key: string) => boolean, isEnough?: (step: PassStep) => boolean): Promise<void> {
    for (;;) {
      const after = this.#kept.passes.get(name) ?? 0;
      const { step, reached } = await this.#gather({
        after,
        until: this.#pruned,
        time,
        ...(isEnough !== undefined && { isEnough }),
        visit: (step, position, facts) => {
          if (isMeant(facts.key)) this.#kept.remove(step, position, facts);
        },
      });
      if (reached <= after) return;
      await this.#apply(step, this.#kept.rowAfter(step, [[name, reached]]), () => {});
      if (isEnough?.(newStep()) === true) return;
    }
  }

  /** What one transaction does for the next records, and the revision of the last whole commit among them. */
  async #gather(pass: Pass): Promise<{ step: PassStep; reached: number }> {
    const step = newStep();
    let reached = pass.after;
    for (let turn = 0; turn < MOST_TURNS && step.removals.length + step.rewrites.length < MOST_CHANGES; turn++) {
      if (turn > 0) await nextTurn();
      if (this.#state.stopped) throw new StoreUnavailable('the store was closed; its history is forgotten at the next start');
      const after = reached;
      reached = this.#read(step, { ...pass, after });
      if (reached === after || reached >= pass.until) break;
    }
    return { step, reached };
  }

  /** Returns the revision of the last whole commit. */
  #read(step: PassStep, { after, until, time, isEnough, visit }: Pass): number {
    const bounds = { start: { revision: after + 1, index: 0 }, end: { revision: until + 1, index: 0 } };
    let records = 0;
    let current = after;
    for (const { key: position, value } of this.#tables.recordFacts.getRange(bounds)) {
      const isLater = !('damage' in value) && value.time > time;
      if (position.revision !== current && (records >= STEP || isLater || isEnough?.(step) === true)) return current;
      current = position.revision;
      records++;
      const facts = soundFacts(position, value);
      if (facts !== undefined) visit(step, position, facts);
    }
    // Beyond the last record there are only deletions that are compacted already.
    return until;
  }

  /** Removes the oldest kept versions of a key that has too many bytes. */
  async #cutKey(name: string): Promise<void> {
    const rule = this.#kept.ruleOf(name);
    if (rule === undefined) return;
    const most = bytesAfterCut(rule.mostBytesPerKey);
    let bytes = 0;
    let newer: number | undefined;
    for (let start: VersionKey | undefined = { name, revision: Number.MAX_SAFE_INTEGER }; start !== undefined; await nextTurn()) {
      const step = newStep();
      let next: VersionKey | undefined;
      for (const { key, value } of this.#tables.versions.getRange({ start, end: `${name}\x01`, limit: STEP })) {
        const { revision } = key as VersionKey;
        const position = { revision, index: value.index };
        // Deletions are superseded by themselves, other versions by the next newer one.
        const supersededAt = value.deleted ? revision : newer;
        newer = revision;
        next = { name, revision: revision - 1 };
        if (supersededAt === undefined || supersededAt > this.#pruned) continue;
        bytes += this.#tables.recordSizes.get(position) ?? 0;
        if (bytes > most) this.#kept.drop(step, position, name);
      }
      if (step.removals.length > 0) await this.#apply(step, this.#kept.rowAfter(step), () => {});
      start = next;
    }
  }

  async #apply({ removals, rewrites }: PassStep, row: HistoryRow, fill: () => void): Promise<void> {
    const bytes = rewrites.reduce((sum, { record }) => sum + record.length, removals.length * 100);
    await this.#write(bytes, row, () => {
      for (const { position, key } of removals) this.#remove(position, key);
      for (const { position, record } of rewrites) this.#tables.records.put(position, record);
      fill();
    });
  }
  async #write(bytes: number, row: HistoryRow, fill: () => void): Promise<void> {
    await this.#state.write(bytes, () => {
      fill();
      this.#kept.write(row);
    });
    this.#kept.written(row);
  }

  #remove(position: Position, name: string): void {
    this.#tables.records.remove(position);
    this.#tables.versions.remove({ name, revision: position.revision });
  }
}
