/** Writes: one commit is one transaction of etcd, sent at most once. */
import { type ChangeRecord, CommitConflict, type Operation } from '../../engine.ts';
import { checkOperations } from '../operations.ts';
import type { Connection } from './connection.ts';
import { CallFailure, unavailable } from './errors.ts';
import { type HistoryRow, withoutValue } from './history-rows.ts';
import type { Leases } from './leases.ts';
import type { OwnValues } from './own-values.ts';
import { encodeCommit, type TransactionAnswer, transaction } from './transactions.ts';

/** For each operation its row of history, if it has one. */
type Rows = readonly (HistoryRow | undefined)[];

export interface CommitContext {
  readonly connection: Connection;
  readonly root: string;
  readonly leases: Leases;
  readonly ownValues: OwnValues;
  /** Undefined if nothing of the commit is kept. */
  rowsOf(operations: readonly Operation[]): Rows | undefined;
  /** Called with the changes of a commit when it is answered, if they are fully known; returns whether the watch need not deliver them. */
  committed(changes: readonly ChangeRecord[], revision: number): boolean;
}

export class Commits {
  readonly #context: CommitContext;
  readonly #connection: Connection;
  readonly #root: string;
  readonly #leases: Leases;
  readonly #ownValues: OwnValues;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(context: CommitContext) {
    this.#context = context;
    this.#connection = context.connection;
    this.#root = context.root;
    this.#leases = context.leases;
    this.#ownValues = context.ownValues;
  }

  /** Returns the revision of the commit. Throws CommitConflict or StoreUnavailable. */
  async commit(operations: readonly Operation[]): Promise<number> {
    checkOperations(operations);
    for (const operation of operations) if (operation.type === 'put') this.#ownValues.wrote(operation.key, operation.value);
    const rows = this.#context.rowsOf(operations);
    const sending = rows === undefined ? this.#send(operations) : this.#sendKept(operations, rows);
    this.#underWay.add(sending);
    try {
      const answer = await sending;
      if (answer.succeeded) {
        const { revision } = answer;
        const changes = this.#ownValues.isEnabled ? changesOf(operations, revision) : undefined;
        if (changes !== undefined && this.#context.committed(changes, revision)) this.#forgetValues(operations);
        return revision;
      }
    } catch (error) {
      this.#forgetValues(operations);
      throw error instanceof CallFailure ? unavailable(error, true) : error;
    } finally {
      this.#underWay.delete(sending);
    }
    this.#forgetValues(operations);
    throw new CommitConflict(failedKey(operations, await sending));
  }

  /** Waits until the commits in progress are settled, each within its deadline. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** History never prevents a write: what etcd refuses because of the rows is sent with less of them. */
  async #sendKept(operations: readonly Operation[], rows: Rows): Promise<TransactionAnswer> {
    let refusal: CallFailure | undefined;
    for (let sentRows: Rows | undefined = rows; ; ) {
      try {
        const answer = await this.#send(operations, sentRows);
        // A store that was just full may have made the deletion nevertheless: then the key is gone.
        if (refusal?.mayHaveHappened === true && !answer.succeeded && answer.reads.some(({ revision }) => revision === 0)) throw refusal;
        return answer;
      } catch (error) {
        if (!(error instanceof CallFailure) || sentRows === undefined || !isForRows(error, operations)) throw error;
        refusal = error;
        sentRows = error.reason === 'request-too-large' ? withoutValues(sentRows) : undefined;
      }
    }
  }

  #send(operations: readonly Operation[], rows?: Rows): Promise<TransactionAnswer> {
    const expiring = operations.some((operation) => operation.type === 'put' && operation.ttlSeconds !== undefined);
    if (expiring) return this.#sendExpiring(operations, rows);
    return this.#connection.write(transaction, encodeCommit(this.#root, operations, noLease, rows), traceOf(operations));
  }

  async #sendExpiring(operations: readonly Operation[], rows: Rows | undefined): Promise<TransactionAnswer> {
    try {
      return await this.#sendWithLeases(operations, rows);
    } catch (error) {
      // Etcd refused the whole transaction, for a lease that was revoked or ended early.
      if (!(error instanceof CallFailure && error.reason === 'lease-not-found')) throw error;
      this.#leases.forget();
      return this.#sendWithLeases(operations, rows);
    }
  }

  async #sendWithLeases(operations: readonly Operation[], rows: Rows | undefined): Promise<TransactionAnswer> {
    const leases = new Map<number, bigint>();
    for (const operation of operations) {
      if (operation.type !== 'put' || operation.ttlSeconds === undefined || leases.has(operation.ttlSeconds)) continue;
      leases.set(operation.ttlSeconds, await this.#leases.leaseFor(operation.ttlSeconds));
    }
    const request = encodeCommit(this.#root, operations, (ttlSeconds) => leases.get(ttlSeconds) as bigint, rows);
    return this.#connection.write(transaction, request, traceOf(operations));
  }

  #forgetValues(operations: readonly Operation[]): void {
    for (const operation of operations) if (operation.type === 'put') this.#ownValues.forget(operation.key);
  }
}

/** A commit is that of one request, whose object comes first. */
function traceOf([first]: readonly Operation[]): string | undefined {
  return first === undefined || first.type === 'check' ? undefined : first.traceparent;
}

/** Whether a commit may have been refused only because of its rows. */
function isForRows({ reason }: CallFailure, operations: readonly Operation[]): boolean {
  if (reason === 'request-too-large' || reason === 'too-many-operations') return true;
  // A full store takes deletions, but no rows of them.
  return reason === 'no-space' && operations.every(({ type }) => type !== 'put');
}

/** The rows without their values; undefined if none has one. */
function withoutValues(rows: Rows): Rows | undefined {
  if (rows.every((row) => row?.value === undefined)) return undefined;
  return rows.map((row) => row && withoutValue(row));
}

/**
 * The changes that a successful commit made. Undefined if they are not fully known: at which revision an overwritten key was created,
 * whether a deleted key was there, and with that whether the revision is that of this commit.
 */
function changesOf(operations: readonly Operation[], revision: number): readonly ChangeRecord[] | undefined {
  const changes: ChangeRecord[] = [];
  for (const operation of operations) {
    if (operation.type === 'check') continue;
    const { type, key, expect } = operation;
    const created = type === 'put' && expect === 0 ? revision : operation.created;
    if (expect === undefined || created === undefined || (type === 'delete' && expect === 0)) return undefined;
    changes.push({ type, key, value: type === 'put' ? operation.value : undefined, revision, created } as ChangeRecord);
  }
  return changes.length > 0 ? changes : undefined;
}

function noLease(): bigint {
  return 0n;
}

/** The first key that has another revision than expected: the transaction read the compared keys in their order. */
function failedKey(operations: readonly Operation[], { reads }: TransactionAnswer): string {
  const guarded = operations.filter((operation) => operation.expect !== undefined);
  const failed = guarded.find((operation, index) => reads[index]?.revision !== operation.expect) ?? guarded[0];
  return failed?.key ?? '';
}
