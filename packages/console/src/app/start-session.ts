/** The way in at the start: by the code of the link, or by the session that is already there. */
import { computed, effect, type Signal, signal } from '@preact/signals';
import { type ApiError, asApiError } from '../api/api-error.ts';
import type { Console } from './console.ts';
import { followKinds } from './follow-kinds.ts';

/** The error of the link's code or of the first request, if there is one. Reads the kinds of the server after each log-in. */
export function startSession(console: Console, browserWindow: Window): Signal<ApiError | undefined> {
  const { session, watches } = console;
  const failure = signal<ApiError | undefined>(undefined);
  const code = takeCode(browserWindow);
  const enter = async (): Promise<void> => {
    try {
      if (code !== undefined) await session.logIn({ code });
      else await session.load();
    } catch (error) {
      failure.value = asApiError(error);
      // A code that was used up may have made the session that is there.
      await session.load().catch(() => session.state.peek().phase === 'unknown' && session.leave());
    }
  };
  const phase = computed(() => session.state.value.phase);
  effect(() => {
    if (phase.value === 'out') watches.stop();
    return phase.value === 'in' ? readKinds(console) : undefined;
  });
  void enter();
  return failure;
}

/** Reads the kinds and follows them until the function that it returns is called. */
function readKinds(console: Console): () => void {
  let stop: (() => void) | undefined;
  let isOver = false;
  void console.discovery.load().then(() => {
    if (!isOver) stop = followKinds(console);
  });
  return () => {
    isOver = true;
    stop?.();
  };
}

/** The code must not stay in the address bar, in the history, or in a link that is copied. */
function takeCode({ location, history }: Window): string | undefined {
  const query = new URLSearchParams(location.search);
  const code = query.get('code');
  if (code === null) return undefined;
  query.delete('code');
  history.replaceState(null, '', query.size === 0 ? location.pathname : `${location.pathname}?${query}`);
  return code;
}
