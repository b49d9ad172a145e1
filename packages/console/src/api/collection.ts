/** The rows of a kind as the server's own Table, live. Only what rows show is kept of each object. */

import type { Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import { acceptAs } from './accept.ts';
import type { Api, Query } from './api.ts';
import type { ApiError } from './api-error.ts';
import { collectionPath, type Kind } from './kinds.ts';
import { type ListPage, listWatch } from './list-watch.ts';
import type { WatchConnection, WatchEvent } from './watch-connection.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0: always shown; more: shown where the table is wide. */
  readonly priority: number;
}
export type Cell = string | number | boolean | null | undefined | object;
export interface Row {
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  /** Milliseconds since 1970; NaN where the object does not say it. */
  readonly createdAt: number;
  /** The object is being deleted, but something keeps it. */
  readonly isTerminating: boolean;
  readonly cells: readonly Cell[];
}

interface PartialObject {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string | null;
    readonly deletionTimestamp?: string | null;
  };
}
interface Table extends ListPage {
  readonly columnDefinitions?: readonly Partial<Column>[] | null;
  readonly rows?: readonly { readonly cells: readonly Cell[]; readonly object?: PartialObject }[] | null;
}

export type CollectionPhase = 'listing' | 'live' | 'failed';

export interface CollectionOptions {
  readonly api: Api;
  readonly watches: WatchConnection;
  readonly clock: Pick<Clock, 'after'>;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** More rows are not kept: the page says so, and how to see fewer. */
export const MAX_ROWS = 200_000;

export class Collection {
  readonly phase: Signal<CollectionPhase> = signal<CollectionPhase>('listing');
  readonly columns: Signal<readonly Column[]> = signal<readonly Column[]>([]);
  readonly error: Signal<ApiError | undefined> = signal<ApiError | undefined>(undefined);
  /** Raised whenever rows have changed. */
  readonly changes: Signal<number> = signal(0);
  /** Objects of the list that have not been read yet; undefined where the server does not say it. */
  readonly remaining: Signal<number | undefined> = signal<number | undefined>(undefined);
  readonly isTruncated: Signal<boolean> = signal(false);
  /** While the collection is listed anew, these are still those of before. */
  rows: ReadonlyMap<string, Row> = new Map();
  #rows = new Map<string, Row>();
  #stop: (() => void) | undefined;

  /** Lists and watches until `close`. */
  constructor({ api, watches, clock, kind, namespace, labelSelector, fieldSelector }: CollectionOptions) {
    const query: Query = { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined };
    this.#stop = listWatch<Table>({
      api,
      watches,
      clock,
      path: collectionPath(kind, kind.isNamespaced ? namespace : undefined),
      query,
      accept: acceptAs('Table'),
      canWatch: kind.verbs.includes('watch'),
      onStart: () => this.#start(),
      onPage: (page) => this.#addPage(page),
      onListed: () => this.#listed(),
      onEvents: (events) => this.#apply(events as readonly WatchEvent<Table>[]),
      onError: (error) => this.#fail(error),
    });
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #start(): void {
    this.#rows = new Map();
    this.phase.value = 'listing';
  }

  #addPage(table: Table): boolean {
    if (table.columnDefinitions) this.columns.value = table.columnDefinitions.map(columnOf);
    for (const row of table.rows ?? []) this.#put(rowOf(row));
    // The first list is shown as it comes; one that replaces another only when it is complete.
    if (this.rows.size <= this.#rows.size) this.rows = this.#rows;
    const isFull = this.#rows.size >= MAX_ROWS;
    this.remaining.value = table.metadata?.remainingItemCount;
    this.isTruncated.value = isFull && Boolean(table.metadata?.continue);
    this.error.value = undefined;
    this.changes.value++;
    return !isFull;
  }

  #listed(): void {
    this.rows = this.#rows;
    this.remaining.value = 0;
    this.phase.value = 'live';
    this.changes.value++;
  }

  #apply(events: readonly WatchEvent<Table>[]): void {
    for (const { type, object } of events) {
      if (type === 'BOOKMARK') continue;
      for (const row of object.rows ?? []) {
        if (type === 'DELETED') this.#rows.delete(rowOf(row).key);
        else if (this.#rows.size < MAX_ROWS || this.#rows.has(rowOf(row).key)) this.#put(rowOf(row));
        else this.isTruncated.value = true;
      }
    }
    this.changes.value++;
  }

  #put(row: Row): void {
    this.#rows.set(row.key, row);
  }

  #fail(error: ApiError): void {
    this.error.value = error;
    this.phase.value = 'failed';
  }
}

function columnOf({ name = '', type = 'string', format = '', description = '', priority = 0 }: Partial<Column>): Column {
  return { name, type, format, description, priority };
}

function rowOf({ cells, object }: NonNullable<Table['rows']>[number]): Row {
  const { name = '', namespace, uid = '', creationTimestamp, deletionTimestamp } = object?.metadata ?? {};
  return {
    key: namespace === undefined ? name : `${namespace}/${name}`,
    name,
    namespace,
    uid,
    createdAt: creationTimestamp ? Date.parse(creationTimestamp) : Number.NaN,
    isTerminating: Boolean(deletionTimestamp),
    cells,
  };
}
