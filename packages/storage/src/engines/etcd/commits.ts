/** Writes: one commit is one transaction of etcd, sent at most once. */
import { type ChangeRecord, CommitConflict, type Operation } from '../../engine.ts';
import { checkOperations } from '../operations.ts';
import type { Connection } from './connection.ts';
import { CallFailure, unavailable } from './errors.ts';
import type { Leases } from './leases.ts';
import { encodeCommit, type TransactionAnswer, transaction } from './messages.ts';
import type { OwnValues } from './own-values.ts';

export class Commits {
  readonly #connection: Connection;
  readonly #root: string;
  readonly #leases: Leases;
  readonly #ownValues: OwnValues;
  readonly #committed: (changes: readonly ChangeRecord[], revision: number) => boolean;
  readonly #underWay = new Set<Promise<unknown>>();

  /**
   * `committed` is called with the changes of a commit when it is answered, if they are fully known; it returns whether the watch
   * need not deliver them.
   */
  constructor(
    connection: Connection,
    root: string,
    leases: Leases,
    ownValues: OwnValues,
    committed: (changes: readonly ChangeRecord[], revision: number) => boolean,
  ) {
    this.#connection = connection;
    this.#root = root;
    this.#leases = leases;
    this.#ownValues = ownValues;
    this.#committed = committed;
  }

  /** Returns the revision of the commit. Throws CommitConflict or StoreUnavailable. */
  async commit(operations: readonly Operation[]): Promise<number> {
    checkOperations(operations);
    for (const operation of operations) if (operation.type === 'put') this.#ownValues.wrote(operation.key, operation.value);
    const sending = this.#send(operations);
    this.#underWay.add(sending);
    try {
      const answer = await sending;
      if (answer.succeeded) {
        const { revision } = answer;
        const changes = this.#ownValues.isEnabled ? changesOf(operations, revision) : undefined;
        if (changes !== undefined && this.#committed(changes, revision)) this.#forgetValues(operations);
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

  #send(operations: readonly Operation[]): Promise<TransactionAnswer> {
    const expiring = operations.some((operation) => operation.type === 'put' && operation.ttlSeconds !== undefined);
    if (expiring) return this.#sendExpiring(operations);
    return this.#connection.write(transaction, encodeCommit(this.#root, operations, noLease));
  }

  async #sendExpiring(operations: readonly Operation[]): Promise<TransactionAnswer> {
    try {
      return await this.#sendWithLeases(operations);
    } catch (error) {
      // Etcd refused the whole transaction, for a lease that was revoked or ended early.
      if (!(error instanceof CallFailure && error.reason === 'lease-not-found')) throw error;
      this.#leases.forget();
      return this.#sendWithLeases(operations);
    }
  }

  async #sendWithLeases(operations: readonly Operation[]): Promise<TransactionAnswer> {
    const leases = new Map<number, bigint>();
    for (const operation of operations) {
      if (operation.type !== 'put' || operation.ttlSeconds === undefined || leases.has(operation.ttlSeconds)) continue;
      leases.set(operation.ttlSeconds, await this.#leases.leaseFor(operation.ttlSeconds));
    }
    const request = encodeCommit(this.#root, operations, (ttlSeconds) => leases.get(ttlSeconds) as bigint);
    return this.#connection.write(transaction, request);
  }

  #forgetValues(operations: readonly Operation[]): void {
    for (const operation of operations) if (operation.type === 'put') this.#ownValues.forget(operation.key);
  }
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
