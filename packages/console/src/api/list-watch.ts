/**
 * A collection that is listed in pages and then watched. Where the watch ends because its history is gone, the collection is listed
 * anew; where listing fails, it is tried again after a delay.
 *
 *   listing ──last page──▶ live ──410──▶ listing
 *      └──error──▶ failed ──after a delay──▶ listing
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Api, Query } from './api.ts';
import { type ApiError, asApiError, isAborted } from './api-error.ts';
import type { WatchConnection, WatchEvent } from './watch-connection.ts';

export interface ListPage {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

interface ListWatchHandlers<P extends ListPage> {
  /** A list begins: what it brings takes the place of what came before. */
  onStart(): void;
  /** False: no more pages are wanted. */
  onPage(page: P): boolean;
  /** The list is complete, or as long as it may be, and changes follow. */
  onListed(): void;
  onEvents(events: readonly WatchEvent[]): void;
  onError(error: ApiError): void;
}

export interface ListWatchOptions<P extends ListPage> extends ListWatchHandlers<P> {
  readonly api: Api;
  readonly watches: WatchConnection;
  readonly clock: Pick<Clock, 'after'>;
  readonly path: string;
  /** Selectors. */
  readonly query?: Query;
  readonly accept?: string;
  /** The form of the objects of events, where it has another name than that of the list. */
  readonly watchAccept?: string;
  /** False: kinds without the verb. */
  readonly canWatch?: boolean;
}

export const PAGE_SIZE = 500;
const FIRST_RETRY_MILLIS = 2000;
const LONGEST_RETRY_MILLIS = 60_000;

/** Lists and watches until the function that it returns is called. */
export function listWatch<P extends ListPage>(options: ListWatchOptions<P>): () => void {
  const { watches, clock, path, query, accept, watchAccept = accept, canWatch = true } = options;
  const abort = new AbortController();
  let closeWatch: (() => void) | undefined;
  let cancelRetry: Cancel | undefined;
  let failures = 0;

  const retry = (): void => {
    const delay = Math.min(FIRST_RETRY_MILLIS * 2 ** Math.min(failures++, 10), LONGEST_RETRY_MILLIS);
    cancelRetry = clock.after(delay, () => void list());
  };
  const list = async (): Promise<void> => {
    try {
      const resourceVersion = await listPages(options, abort.signal);
      if (abort.signal.aborted) return;
      failures = 0;
      options.onListed();
      if (canWatch) watch(resourceVersion);
    } catch (error) {
      if (isAborted(error) || abort.signal.aborted) return;
      const apiError = asApiError(error);
      options.onError(apiError);
      // A list without rights stays one; 410: the list took longer than history is kept.
      if (apiError.code === 410 || apiError.code === 0 || apiError.code === 429 || apiError.code >= 500) retry();
    }
  };
  const watch = (resourceVersion: string): void => {
    closeWatch = watches.open({
      path,
      resourceVersion,
      ...(query === undefined ? {} : { query }),
      ...(watchAccept === undefined ? {} : { accept: watchAccept }),
      onEvents: options.onEvents,
      onEnd: (error) => {
        closeWatch = undefined;
        if (error.code === 410) void list();
        else options.onError(error);
      },
    });
  };
  void list();
  return () => {
    abort.abort();
    closeWatch?.();
    cancelRetry?.();
  };
}

/** Reads page after page; the version of the last one is that of the whole list. */
async function listPages<P extends ListPage>(options: ListWatchOptions<P>, signal: AbortSignal): Promise<string> {
  const { api, path, query, accept } = options;
  options.onStart();
  let next: string | undefined;
  for (;;) {
    const page = await api.json<P>(path, {
      query: { ...query, limit: PAGE_SIZE, continue: next },
      signal,
      ...(accept === undefined ? {} : { accept }),
    });
    const { resourceVersion = '', continue: more } = page.metadata ?? {};
    if (!options.onPage(page) || !more) return resourceVersion;
    next = more;
  }
}
