/**
 * A store that encrypts the values of the configured collections. It wraps any engine:
 *
 *   commit  → put core/secrets/a/b = encrypted     the engine, its journal and its history contain encrypted values only
 *   get, range, changes, subscribe → decrypted     a value that cannot be decrypted is delivered as unreadable
 *
 * Local keys are synchronous, so that commits keep their order and `assigned` is called as by the engine. A plug-in is
 * asynchronous: a commit that needs it begins when its values are encrypted, and changes wait for earlier ones.
 */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { Slices } from '@plat-dev/lib/slices';
import { isPending, type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { internalError } from '@plat-dev/meta/errors';
import type { ChangeRecord, Engine, Entry, Hold, Operation, RangeRequest, RangeResult, Subscriber } from '../engine.ts';
import type { HistoryStore, KeptVersion } from '../history.ts';
import type { EncryptionRules } from './encryption-rules.ts';
import { isRefused, type Opened, type Transformer } from './transformer.ts';

/** Maximum concurrent plug-in calls of one read. */
const WINDOW = 256;
/** Maximum own values that were written and have not come back yet: beyond these the oldest are decrypted like any other. */
export const MOST_OWN = 4096;
export const MOST_OWN_BYTES = 16 * 1024 * 1024;

type Readable = { readonly key: string; readonly value: Buffer | undefined };
/**
 * The plain value by its encrypted buffer, until an exclusive engine delivers that: the same buffer comes back
 * within the commit. A table of them costs a tenth of a create.
 */
const PLAIN = Symbol('plain');
type Sealed = Buffer & { [PLAIN]?: Buffer | undefined };

export class EncryptedEngine implements Engine {
  readonly name: Engine['name'];
  readonly exclusive: boolean;
  /** The store with encrypted values: for backups and for inspection of the encrypted form. */
  readonly sealed: Engine;
  readonly history: HistoryStore;
  #rules: EncryptionRules;
  /** Own values that were encrypted for a shared store and have not come back: encrypted → plain, the oldest first. */
  readonly #own = new BoundedCache<Buffer, Buffer>(MOST_OWN, { most: MOST_OWN_BYTES, of: ({ length }) => length });
  readonly #retry: (collection: string) => void;

  /** `retry` is called with collections that have a value which cannot be read for now. */
  constructor(engine: Engine, rules: EncryptionRules, retry: (collection: string) => void = () => {}) {
    this.sealed = engine;
    this.name = engine.name;
    this.exclusive = engine.exclusive;
    this.#rules = rules;
    this.#retry = retry;
    const { history } = engine;
    this.history = {
      versions: async (request) => this.#openHistory(await history.versions(request)),
      at: async (request) => this.#openHistory(await history.at(request)),
      revisionAt: (time) => history.revisionAt(time),
      // Versions of a backup are encrypted as they were.
      add: (versions) => history.add(versions),
    };
  }

  get rules(): EncryptionRules {
    return this.#rules;
  }
  /** From now on values are encrypted and decrypted by these rules. */
  use(rules: EncryptionRules): void {
    this.#rules = rules;
  }
  get revision(): number {
    return this.sealed.revision;
  }
  get compacted(): number {
    return this.sealed.compacted;
  }
  currentRevision(): Promise<number> {
    return this.sealed.currentRevision();
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    const entry = await this.sealed.get(key, at);
    return entry === undefined ? undefined : this.#openOne(entry);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    const sealedRange = await this.sealed.range(request);
    return { ...sealedRange, entries: await this.#openAll(sealedRange.entries) };
  }

  async changes(request: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]> {
    return this.#openAll(await this.sealed.changes(request));
  }

  commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<{ revision: number }> {
    let sealed: Operation[] | undefined;
    let waiting: Promise<void>[] | undefined;
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i] as Operation;
      if (operation.type !== 'put') continue;
      const sealedValue = this.#rules.of(operation.key)?.seal(operation.value, operation.key);
      if (sealedValue === undefined || sealedValue === operation.value) continue;
      sealed ??= [...operations];
      const all = sealed;
      if (isPending(sealedValue)) {
        waiting ??= [];
        waiting.push(
          sealedValue.then((value) => {
            all[i] = { ...operation, value };
          }),
        );
      } else all[i] = { ...operation, value: sealedValue };
    }
    if (sealed === undefined) return this.sealed.commit(operations, assigned);
    const ready = sealed;
    const commit = (): Promise<{ revision: number }> =>
      this.exclusive ? this.#commitHere(operations, ready, assigned) : this.#commitShared(operations, ready, assigned);
    if (waiting === undefined) return commit();
    return Promise.all(waiting).then(commit, (error: Error) =>
      Promise.reject(internalError(`the object was not written: ${error.message}`)),
    );
  }

  /** The engine delivers the buffer before the commit ends; a refused one is garbage-collected. */
  #commitHere(
    plain: readonly Operation[],
    sealed: readonly Operation[],
    assigned: ((revision: number) => void) | undefined,
  ): Promise<{ revision: number }> {
    for (let i = 0; i < plain.length; i++) {
      const from = plain[i] as Operation;
      const to = sealed[i] as Operation;
      if (from !== to && from.type === 'put' && to.type === 'put') (to.value as Sealed)[PLAIN] = from.value;
    }
    return this.sealed.commit(sealed, assigned);
  }

  async #commitShared(
    plain: readonly Operation[],
    sealed: readonly Operation[],
    assigned: ((revision: number) => void) | undefined,
  ): Promise<{ revision: number }> {
    for (let i = 0; i < plain.length; i++) {
      const [from, to] = [plain[i] as Operation, sealed[i] as Operation];
      if (from !== to && from.type === 'put' && to.type === 'put') this.#own.set(to.value, from.value);
    }
    let isWritten = false;
    try {
      const done = await this.sealed.commit(sealed, assigned);
      isWritten = true;
      return done;
    } finally {
      // The write may still come back.
      if (!isWritten) for (const operation of sealed) if (operation.type === 'put') this.#own.delete(operation.value);
    }
  }

  /**
   * Delivers at once what needs no plug-in and what this process wrote. `revision` and the order of changes are those of
   * the engine.
   */
  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    let ended = false;
    let waiting = 0;
    let tail: Promise<void> = Promise.resolve();
    const later = (changes: readonly ChangeRecord[], revision: number): void => {
      waiting++;
      tail = tail
        .then(() => Promise.all(changes.map((change) => this.#openOne(change, 'delivered'))))
        .then((opened) => {
          if (!ended) deliver(opened, revision);
        })
        .catch((error: unknown) => {
          if (ended) return;
          stop();
          failed(error instanceof Error ? error : new Error(String(error)));
        })
        .finally(() => {
          waiting--;
        });
    };
    const end = this.sealed.subscribe(
      after,
      (changes, revision) => {
        const opened = waiting > 0 ? undefined : this.#openNow(changes);
        if (opened === undefined) later(changes, revision);
        else deliver(opened, revision);
      },
      (error) => {
        // Changes before the end are delivered before it is reported.
        if (waiting === 0) failed(error);
        else void tail.then(() => (ended ? undefined : failed(error)));
      },
    );
    const stop = (): void => {
      ended = true;
      end();
    };
    return stop;
  }

  compact(revision: number): Promise<void> {
    return this.sealed.compact(revision);
  }
  hold(milliseconds: number): Promise<Hold> {
    return this.sealed.hold(milliseconds);
  }
  skipTo(revision: number): Promise<void> {
    return this.sealed.skipTo(revision);
  }
  get refusing(): string | undefined {
    return this.sealed.refusing;
  }
  ping(): Promise<void> {
    return this.sealed.ping();
  }
  stats(): Promise<Record<string, number>> {
    return this.sealed.stats();
  }
  close(): Promise<void> {
    this.#rules.close();
    return this.sealed.close();
  }

  /** Whether an unchanged value must be written again: it is not encrypted with the current write key. */
  async isOutdated(key: string): Promise<boolean> {
    const transformer = this.#rules.of(key);
    if (transformer === undefined) return false;
    const entry = await this.sealed.get(key);
    if (entry === undefined || entry.unreadable !== undefined) return false;
    // While a plug-in is unavailable, nothing is rewritten without need.
    return !(await transformer.isCurrent(entry.value, key).catch(() => true));
  }

  /** Undefined when some of the changes need a plug-in. */
  #openNow(changes: readonly ChangeRecord[]): readonly ChangeRecord[] | undefined {
    let all: ChangeRecord[] | undefined;
    for (let i = 0; i < changes.length; i++) {
      const change = changes[i] as ChangeRecord;
      const opened = this.#open(change, 'delivered');
      if (isPending(opened)) return undefined;
      if (opened === undefined) continue;
      all ??= [...changes];
      all[i] = this.#readableForm(change, opened);
    }
    return all ?? changes;
  }

  /** The value of an entry or change; undefined if it is unchanged. */
  #open({ key, value, unreadable }: Readable & Pick<Entry, 'unreadable'>, how: 'read' | 'delivered'): MaybePromise<Opened> | undefined {
    if (value === undefined || unreadable !== undefined) return undefined;
    const transformer = this.#rules.of(key);
    if (transformer === undefined) return undefined;
    return (how === 'delivered' || !this.exclusive ? this.#takeOwn(value) : undefined) ?? transformer.open(value, key);
  }

  /** The plain value of what this process encrypted, once. */
  #takeOwn(sealed: Sealed): Buffer | undefined {
    if (this.exclusive) {
      const plain = sealed[PLAIN];
      if (plain !== undefined) sealed[PLAIN] = undefined;
      return plain;
    }
    const plain = this.#own.get(sealed);
    if (plain !== undefined) this.#own.delete(sealed);
    return plain;
  }

  #openOne<T extends Readable>(one: T, how: 'read' | 'delivered' = 'read'): MaybePromise<T> {
    const opened = this.#open(one, how);
    if (opened === undefined) return one;
    return whenReady(opened, (value) => this.#readableForm(one, value));
  }

  async #openAll<T extends Readable>(all: readonly T[]): Promise<T[]> {
    const opened: T[] = [];
    const slices = new Slices();
    for (let start = 0; start < all.length; start += WINDOW) {
      const window: MaybePromise<T>[] = [];
      for (const one of all.slice(start, start + WINDOW)) {
        window.push(this.#openOne(one));
        if (slices.due) await slices.pause();
      }
      opened.push(...(await Promise.all(window)));
    }
    return opened;
  }

  async #openHistory<T extends { readonly versions: KeptVersion[] }>(sealedPage: T): Promise<T> {
    return { ...sealedPage, versions: await this.#openAll(sealedPage.versions) };
  }

  #readableForm<T extends Readable>(one: T, opened: Opened): T {
    if (!isRefused(opened)) return opened === one.value ? one : { ...one, value: opened };
    if (opened.retry) this.#retry((this.#rules.of(one.key) as Transformer).collection);
    return { ...one, value: EMPTY, unreadable: { reason: opened.reason } };
  }
}

const EMPTY = Buffer.alloc(0);
