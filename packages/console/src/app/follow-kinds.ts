/** Kinds that are defined while the page is open appear in it. */
import type { Cancel } from '@plat-dev/lib/clock';
import { tableAccept } from '../api/collection.ts';
import { collectionPath } from '../api/kinds.ts';
import { listWatch } from '../api/list-watch.ts';
import type { Console } from './console.ts';

/** Definitions come in dozens, and a server serves a kind a moment after its definition is stored. */
const SETTLED_MILLIS = 1000;

/**
 * Reads the kinds again after definitions of custom resources have changed, until the function that it returns is called. Whoever may
 * not see definitions gets new kinds when the page is loaded again.
 */
export function followKinds({ api, watches, clock, discovery }: Pick<Console, 'api' | 'watches' | 'clock' | 'discovery'>): () => void {
  const kind = discovery.kinds.peek().find(({ resource }) => resource === 'customresourcedefinitions');
  if (kind === undefined) return () => undefined;
  let cancel: Cancel | undefined;
  let isListed = false;
  const readLater = (): void => {
    cancel?.();
    cancel = clock.after(SETTLED_MILLIS, () => void discovery.load());
  };
  const stop = listWatch({
    api,
    watches,
    clock,
    path: collectionPath(kind),
    accept: tableAccept,
    onStart: () => undefined,
    onPage: () => true,
    // The first list is no change: the kinds were read just before.
    onListed: () => {
      if (isListed) readLater();
      isListed = true;
    },
    onEvents: (events) => events.some(({ type }) => type !== 'BOOKMARK') && readLater(),
    onError: () => undefined,
  });
  return () => {
    stop();
    cancel?.();
  };
}
