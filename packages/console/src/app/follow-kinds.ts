/** Kinds that are defined while the page is open appear in it. */
import type { Cancel } from '@plat-dev/lib/clock';
import { acceptAs } from '../api/accept.ts';
import { collectionPath, type Kind } from '../api/kinds.ts';
import { listWatch } from '../api/list-watch.ts';
import type { Console } from './console.ts';

/** Definitions come in dozens, and a server serves a kind a moment after its definition is stored. */
const SETTLED_MILLIS = 1000;

/** Custom kinds, and those of aggregated servers, whose APIService also says when they answer and when they do not. */
const definesKinds = ({ group, resource }: Kind): boolean =>
  (resource === 'customresourcedefinitions' && group.startsWith('apiextensions.')) ||
  (resource === 'apiservices' && group.startsWith('apiregistration.'));

/**
 * Reads the kinds again after definitions have changed, until the function that it returns is called. Whoever may not see definitions
 * gets new kinds when the page is loaded again.
 */
export function followKinds({ api, watches, clock, discovery }: Pick<Console, 'api' | 'watches' | 'clock' | 'discovery'>): () => void {
  let cancel: Cancel | undefined;
  const readLater = (): void => {
    cancel?.();
    cancel = clock.after(SETTLED_MILLIS, () => void discovery.load());
  };
  const follow = (kind: Kind): (() => void) => {
    let isListed = false;
    return listWatch({
      api,
      watches,
      clock,
      path: collectionPath(kind),
      accept: acceptAs('Table'),
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
  };
  const stops = discovery.kinds.peek().filter(definesKinds).map(follow);
  return () => {
    for (const stop of stops) stop();
    cancel?.();
  };
}
