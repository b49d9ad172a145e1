/**
 * Deletes rows of history that are no longer kept. A sweep reads the keys of all rows, page by page, in the order of their keys: the
 * rows of a key lie together, so that each shows when the one before it was superseded. It counts as it goes; if there is too much as
 * a whole, a second pass deletes the oldest.
 *
 * Several servers may run on one etcd: the one that wins the conditional write of a record sweeps, once per interval. Deletions have
 * the same condition, and write the record too, so that the watch of the store passes their revision. Repeating one changes nothing.
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { HistoryPolicy } from '../../history.ts';
import type { Connection } from './connection.ts';
import { CallFailure } from './errors.ts';
import { ByteAges } from './history-ages.ts';
import { indexKeyOf, MOST_OPERATIONS, type RowSummary, rowKeyOf } from './history-rows.ts';
import { newestFirst, type RowScan } from './history-scan.ts';
import { endOfPrefix } from './keyspace.ts';
import { encodeRange, type Method, type RangeAnswer } from './messages.ts';
import { encodeCommit, encodeDeletes, type TransactionAnswer, transaction } from './transactions.ts';

export interface SweepContext {
  readonly connection: Connection;
  readonly scan: RowScan;
  readonly range: Method<RangeAnswer>;
  readonly policy: HistoryPolicy;
  /** The record with the precondition. */
  readonly record: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly random: Random;
  newestSeen(): number;
  notice(message: string): void;
}

/** The value of the record. */
interface SweepRecord {
  /** When the last sweep began. */
  readonly time: number;
  /** Bytes of superseded versions that the last whole sweep left. */
  readonly bytes: number;
  /** When the first of them is to be deleted. */
  readonly due: number;
  /** The newest revision when it began. */
  readonly newest: number;
}
const FIRST: SweepRecord = { time: 0, bytes: 0, due: 0, newest: 0 };

/** What a sweep left. */
interface SweepResult {
  readonly ages: ByteAges;
  /** When the first of it is to be deleted. */
  due: number;
}

/** Sweeps begin this often. */
export const SWEEP_INTERVAL_MS = 5 * 60_000;
/** The part of the interval after which the next one begins while there is nearly too much. */
const SHORT = 1 / 5;
/** Time between the pages of a sweep, so that it does not keep etcd from its work. */
const PAUSE_MS = 50;
/** Rows of one transaction: each has two keys, and the record is written as well. */
const ROWS_AT_ONCE = MOST_OPERATIONS / 2 - 1;
/** The part of what may be kept from which on sweeps are more frequent. */
const NEARLY = 0.75;

export class HistorySweep {
  readonly #context: SweepContext;
  #cancel: () => void = () => {};
  #stopped = false;
  /** The revision of the record. */
  #revision = 0;
  /** Whether this server has swept: rules may have changed with its start. */
  #hasSwept = false;

  constructor(context: SweepContext) {
    this.#context = context;
    this.#wait(true);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Servers do not begin at the same time. */
  #wait(isShort: boolean): void {
    if (this.#stopped) return;
    const { clock, random, notice } = this.#context;
    this.#cancel = clock.after(this.#interval(isShort) * (1 + random.float() / 4), () => {
      void this.#sweep()
        .catch((error: Error) => {
          if (!this.#stopped) notice(`history in etcd was not swept: ${error.message}`);
          return false;
        })
        .then((isNearlyFull) => this.#wait(isNearlyFull));
    });
  }

  #interval(isShort: boolean): number {
    return this.#context.intervalMs * (isShort ? SHORT : 1);
  }

  /** Sweeps unless another server does, or did not long ago, or there is nothing to do. Returns whether the next one should be soon. */
  async #sweep(): Promise<boolean> {
    const { clock, policy, newestSeen } = this.#context;
    const last = await this.#readRecord();
    const isNearlyFull = last.bytes > policy.mostBytes * NEARLY;
    const now = clock.now();
    if (now >= last.time && now - last.time < this.#interval(isNearlyFull)) return isNearlyFull;
    if (this.#hasSwept && (await this.#isAtRest(last, now))) return isNearlyFull;
    const begun = { ...last, time: now, newest: newestSeen() };
    if (!(await this.#writeRecord(begun))) return isNearlyFull;
    let result = await this.#sweepOnce(0, begun);
    const cutoff = result?.ages.cutoff(policy.mostBytes) ?? 0;
    if (cutoff > 0) result = await this.#sweepOnce(cutoff, begun);
    if (result === undefined) return isNearlyFull;
    this.#hasSwept = true;
    const { total } = result.ages;
    await this.#writeRecord({ ...begun, bytes: total, due: result.due });
    return total > policy.mostBytes * NEARLY;
  }

  /** Nothing is due, and nothing has been written since the last sweep: a store at rest is left alone. */
  async #isAtRest({ due, newest }: SweepRecord, now: number): Promise<boolean> {
    return now < due && (await this.#context.scan.firstByBase(newest, Number.MAX_SAFE_INTEGER)) === undefined;
  }

  /** Deletes also what was superseded up to the cutoff. Returns what is left; undefined if another server took over, or this one stops. */
  async #sweepOnce(cutoff: number, record: SweepRecord): Promise<SweepResult | undefined> {
    const result: SweepResult = { ages: new ByteAges(record.time), due: Number.MAX_SAFE_INTEGER };
    const { scan, connection } = this.#context;
    const end = endOfPrefix(`${scan.root}k/`);
    let rowsOfKey: RowSummary[] = [];
    for (let start = `${scan.root}k/`; ; ) {
      const page = await scan.page(start, end);
      const expiredRows: RowSummary[] = [];
      for (const row of page.rows) {
        if (row.key !== rowsOfKey[0]?.key) {
          this.#judge(rowsOfKey, cutoff, result, expiredRows);
          rowsOfKey = [];
        }
        rowsOfKey.push(row);
      }
      if (!page.more) this.#judge(rowsOfKey, cutoff, result, expiredRows);
      if (!(await this.#delete(expiredRows, record))) return undefined;
      if (!page.more) return result;
      start = page.nextStart;
      await connection.sleep(PAUSE_MS);
      if (this.#stopped) return undefined;
    }
  }

  /** Finds the rows of one key that are no longer kept, and counts the others. The version that the key has now is always kept. */
  #judge(rows: readonly RowSummary[], cutoff: number, result: SweepResult, expiredRows: RowSummary[]): void {
    const { policy, clock } = this.#context;
    const rule = rows[0] && policy.ruleOf(rows[0].key);
    const { retentionMs, mostBytesPerKey } = rule ?? { retentionMs: 0, mostBytesPerKey: 0 };
    const oldest = Math.max(cutoff, clock.now() - retentionMs);
    let bytes = 0;
    let superseder: RowSummary | undefined;
    for (const row of newestFirst(rows)) {
      const supersededAt = superseder?.time ?? (row.type === 'delete' ? row.time : undefined);
      superseder = row;
      if (supersededAt === undefined) {
        if (rule === undefined) expiredRows.push(row);
        continue;
      }
      bytes += row.bytes;
      if (supersededAt <= oldest || bytes > mostBytesPerKey) expiredRows.push(row);
      else {
        result.ages.add(supersededAt, row.bytes);
        result.due = Math.min(result.due, supersededAt + retentionMs);
      }
    }
  }

  /** Oldest first: what a sweep that ends early leaves has no gaps. */
  async #delete(newestRowsFirst: readonly RowSummary[], record: SweepRecord): Promise<boolean> {
    const { root } = this.#context.scan;
    const rows = newestRowsFirst.toReversed();
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const keys = rows.slice(start, start + ROWS_AT_ONCE).flatMap((row) => [rowKeyOf(root, row), indexKeyOf(root, row)]);
      if (!(await this.#deleteKeys(keys, record))) return false;
    }
    return true;
  }

  async #deleteKeys(keys: readonly string[], content: SweepRecord): Promise<boolean> {
    const { connection, record } = this.#context;
    const value = Buffer.from(JSON.stringify(content));
    try {
      return this.#written(await connection.write(transaction, encodeDeletes(keys, record, this.#revision, value)));
    } catch (error) {
      // A store that is full takes deletions alone.
      if (!(error instanceof CallFailure && error.reason === 'no-space')) throw error;
      return (await connection.write(transaction, encodeDeletes(keys, record, this.#revision, undefined))).succeeded;
    }
  }

  async #readRecord(): Promise<SweepRecord> {
    const { connection, range, record } = this.#context;
    const entry = (await connection.read(range, encodeRange({ key: record }))).entries[0];
    this.#revision = entry?.revision ?? 0;
    try {
      return { ...FIRST, ...(JSON.parse(entry?.value.toString() ?? '{}') as Partial<SweepRecord>) };
    } catch {
      return FIRST;
    }
  }

  /** Returns false if another server has written it since it was read. */
  async #writeRecord(content: SweepRecord): Promise<boolean> {
    const { connection, record } = this.#context;
    const operation = { type: 'put', key: record, value: Buffer.from(JSON.stringify(content)), expect: this.#revision } as const;
    try {
      return this.#written(
        await connection.write(
          transaction,
          encodeCommit('', [operation], () => 0n),
        ),
      );
    } catch (error) {
      // A store that is full is swept all the same.
      if (!(error instanceof CallFailure && error.reason === 'no-space')) throw error;
      return true;
    }
  }

  #written({ succeeded, revision }: TransactionAnswer): boolean {
    if (succeeded) this.#revision = revision;
    return succeeded;
  }
}
