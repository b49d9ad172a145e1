/** Watches the chosen kinds from now on, and asks the history of each kind for what a watch does not say. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import { acceptAs } from '../../api/accept.ts';
import type { Api } from '../../api/api.ts';
import { type ApiError, asApiError, isAborted } from '../../api/api-error.ts';
import { loadHistory } from '../../api/history.ts';
import { collectionPath, type Kind, kindKey } from '../../api/kinds.ts';
import type { ListPage } from '../../api/list-watch.ts';
import type { WatchConnection, WatchEvent } from '../../api/watch-connection.ts';
import { detailsOf, type NowRows, rowsOf } from './now.ts';

export interface ChangeStreamOptions {
  readonly api: Pick<Api, 'json'>;
  readonly watches: Pick<WatchConnection, 'open'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly rows: NowRows;
  readonly kinds: readonly Kind[];
  readonly namespace: string | undefined;
}

/** History is asked for all changes of so much time together. */
const HISTORY_DELAY_MILLIS = 400;
/** The clocks of the server and of the browser may differ. */
const HISTORY_SPAN_MILLIS = 120_000;
const HISTORY_LIMIT = 200;

export class ChangeStream {
  /** Kinds that cannot be watched, and why. */
  readonly failures: Signal<ReadonlyMap<string, ApiError>> = signal<ReadonlyMap<string, ApiError>>(new Map());
  readonly #options: ChangeStreamOptions;
  readonly #abort = new AbortController();
  readonly #closes = new Map<string, () => void>();
  readonly #pendingHistory = new Map<string, Cancel>();
  readonly #withoutHistory = new Set<string>();

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
    for (const kind of options.kinds) void this.#start(kind);
  }

  close(): void {
    this.#abort.abort();
    for (const close of this.#closes.values()) close();
    for (const cancel of this.#pendingHistory.values()) cancel();
  }

  /** A list of one object tells the version from which to watch. */
  async #start(kind: Kind): Promise<void> {
    const { api, watches, namespace } = this.#options;
    const path = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    try {
      const { signal: aborted } = this.#abort;
      const page = await api.json<ListPage>(path, { query: { limit: 1 }, accept: acceptAs('PartialObjectMetadataList'), signal: aborted });
      if (aborted.aborted) return;
      const close = watches.open({
        path,
        resourceVersion: page.metadata?.resourceVersion ?? '',
        accept: acceptAs('PartialObjectMetadata'),
        onEvents: (events) => this.#receive(kind, events),
        onEnd: (error) => (error.code === 410 ? void this.#start(kind) : this.#fail(kind, error)),
      });
      this.#closes.set(kindKey(kind), close);
    } catch (error) {
      if (!isAborted(error)) this.#fail(kind, asApiError(error));
    }
  }

  #fail(kind: Kind, error: ApiError): void {
    this.failures.value = new Map(this.failures.peek()).set(kind.resource, error);
  }

  #receive(kind: Kind, events: readonly WatchEvent[]): void {
    const { clock, rows } = this.#options;
    const added = rowsOf(kind, events, clock.now());
    rows.add(added);
    const key = kindKey(kind);
    if (added.length === 0 || this.#pendingHistory.has(key) || this.#withoutHistory.has(key)) return;
    const cancel = clock.after(HISTORY_DELAY_MILLIS, () => {
      this.#pendingHistory.delete(key);
      void this.#complete(kind);
    });
    this.#pendingHistory.set(key, cancel);
  }

  async #complete(kind: Kind): Promise<void> {
    const { api, clock, rows, namespace } = this.#options;
    const since = clock.now() - HISTORY_SPAN_MILLIS;
    try {
      const versions = await loadHistory(api, { kind, namespace, since, limit: HISTORY_LIMIT, signal: this.#abort.signal });
      if (versions === undefined) this.#withoutHistory.add(kindKey(kind));
      else rows.complete(detailsOf(kind, versions));
    } catch (error) {
      // Whoever may not read history sees the changes without it.
      if (!isAborted(error) && asApiError(error).code !== 0) this.#withoutHistory.add(kindKey(kind));
    }
  }
}
