/**
 * History in place: which superseded versions stay in the tables when compaction has passed them, and when they go. Nothing of it is
 * in memory but how far each pass has come: passes over the log find what a record superseded, as compaction does.
 *
 *   compaction    passes a record once: what it superseded stays if a rule keeps it, without its value if the rule says so
 *   retention     one pass for each retention of the rules: what was superseded that long ago is removed
 *   oldest        while there are too many bytes: whatever was superseded first is removed
 *
 * A version is superseded by the next one of its key, a deletion by itself.
 */
import type { HistoryPolicy, HistoryRule } from '../../history.ts';
import { type DamagedRecord, encodeRecord, type Position, type StoredFacts, type VersionKey } from './format.ts';
import { KeyGrowth } from './key-growth.ts';
import { type HistoryRow, readHistoryRow, writeHistoryRow } from './meta.ts';
import type { Tables } from './table.ts';

/** The pass that goes on while there are too many bytes. */
export const OLDEST = 'oldest';
/** It stops when this fraction of the bound is free. */
const FREED = 8;

interface Removal {
  readonly position: Position;
  readonly key: string;
}
/** What a pass does to the tables in one transaction. */
export interface PassStep {
  readonly removals: Removal[];
  /** Records that lose their values. */
  readonly rewrites: { readonly position: Position; readonly record: Buffer }[];
  /** Bytes by which the kept versions grow. */
  bytes: number;
}
export const newStep = (): PassStep => ({ removals: [], rewrites: [], bytes: 0 });

export class KeptVersions {
  readonly #tables: Tables;
  readonly #policy: HistoryPolicy | undefined;
  readonly #growth = new KeyGrowth();
  #row: HistoryRow;

  /** Throws MetaDamage. */
  constructor(tables: Tables, policy: HistoryPolicy | undefined) {
    this.#tables = tables;
    this.#policy = policy;
    this.#row = readHistoryRow(tables.meta) ?? { policy: '', bytes: 0, passes: new Map() };
  }

  get bytes(): number {
    return this.#row.bytes;
  }
  /** Whether a server keeps versions here by rules that a tool does not know: it leaves them alone. */
  get hasUnknownRules(): boolean {
    return this.#policy === undefined && this.#row.policy !== '';
  }
  ruleOf(key: string): HistoryRule | undefined {
    return this.#policy?.ruleOf(key);
  }
  get passes(): ReadonlyMap<string, number> {
    return this.#row.passes;
  }
  /** Keys that have grown so much that their bytes are to be counted. */
  takeGrown(): string[] {
    return this.#growth.take();
  }

  /** The row to begin with if the rules are not those by which versions were kept; undefined if they are, or there are none. */
  changedRules(): HistoryRow | undefined {
    const { id } = this.#policy ?? { id: this.#row.policy };
    return id !== undefined && id === this.#row.policy ? undefined : { policy: id ?? '', bytes: 0, passes: new Map() };
  }
  /** Whether the oldest must go: until `isEnough` says so. */
  get isTooMuch(): boolean {
    return this.#policy !== undefined && this.bytes > this.#policy.mostBytes;
  }
  isEnough(step: PassStep): boolean {
    const { mostBytes } = this.#policy as HistoryPolicy;
    return this.bytes + step.bytes <= mostBytes - mostBytes / FREED;
  }

  /** The row after a step. A retention that is met for the first time has nothing before this revision. */
  rowAfter(step: PassStep, passes: Iterable<[string, number]> = []): HistoryRow {
    return { ...this.#row, bytes: Math.max(0, this.bytes + step.bytes), passes: new Map([...this.#row.passes, ...passes]) };
  }
  /** Within a transaction. */
  write(row: HistoryRow): void {
    writeHistoryRow(this.#tables.meta, row);
  }
  /** The row is durable. */
  written(row: HistoryRow): void {
    this.#row = row;
  }

  /** Compaction passes a record: what it superseded stays or goes. Adds retentions that are met for the first time to `passes`. */
  compact(step: PassStep, position: Position, facts: StoredFacts, passes: Map<string, number>): void {
    const { key, deleted, added } = facts;
    const rule = this.ruleOf(key);
    if (rule === undefined) {
      if (facts.previous.revision > 0) step.removals.push({ position: facts.previous, key });
      if (deleted || added) step.removals.push({ position, key });
      return;
    }
    for (const name of [String(rule.retentionMs), OLDEST])
      if (!this.#row.passes.has(name) && !passes.has(name)) passes.set(name, position.revision - 1);
    let bytes = deleted ? facts.bytes : 0;
    const superseded = this.#supersededBy(position, facts);
    if (superseded !== undefined)
      bytes += rule.values ? (this.#tables.recordSizes.get(superseded) ?? 0) : this.#dropValue(step, superseded);
    step.bytes += bytes;
    this.#growth.add(key, bytes, rule.mostBytesPerKey);
  }

  /** A pass of retention or of too many bytes: what a record superseded goes. */
  remove(step: PassStep, position: Position, facts: StoredFacts): void {
    const superseded = this.#supersededBy(position, facts);
    if (superseded !== undefined) this.drop(step, superseded, facts.key);
    if (facts.deleted) this.drop(step, position, facts.key);
  }

  drop(step: PassStep, position: Position, key: string): void {
    const bytes = this.#tables.recordSizes.get(position);
    if (bytes === undefined) return;
    step.bytes -= bytes;
    step.removals.push({ position, key });
  }

  /** The version that a record superseded; undefined if there is none, or it is a deletion. */
  #supersededBy(position: Position, { key, previous }: StoredFacts): Position | undefined {
    if (previous.revision > 0) return previous;
    // Versions of a backup, and what was written after them, do not name what they superseded.
    const older = { start: { name: key, revision: position.revision - 1 }, end: `${key}\x01`, limit: 1 };
    for (const { key: row, value } of this.#tables.versions.getRange(older)) {
      const olderPosition = { revision: (row as VersionKey).revision, index: value.index };
      const facts = value.deleted ? this.#tables.recordFacts.get(olderPosition) : undefined;
      return facts !== undefined && ('damage' in facts || facts.deleted) ? undefined : olderPosition;
    }
    return undefined;
  }

  /** The bytes of a record without its value. */
  #dropValue(step: PassStep, position: Position): number {
    const stored = this.#tables.records.get(position);
    if (stored === undefined || 'damage' in stored) return this.#tables.recordSizes.get(position) ?? 0;
    const record = encodeRecord({ ...stored, dropped: !stored.deleted });
    if (!stored.dropped) step.rewrites.push({ position, record });
    return record.length;
  }
}

/** A damaged or misplaced record does not say what it superseded: that stays. */
export function soundFacts(position: Position, record: StoredFacts | DamagedRecord): StoredFacts | undefined {
  if ('damage' in record || record.revision !== position.revision || record.index !== position.index) return undefined;
  return record;
}
