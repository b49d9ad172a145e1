/** The way in at the start: by the code of the link, or by the session that is already there. */
import { computed, effect, type Signal, signal } from '@preact/signals';
import { ApiError, asApiError } from '../api/api-error.ts';
import type { Console } from './console.ts';
import { followKinds } from './follow-kinds.ts';

/** The error of the link's code or of the first request, if there is one. Reads the kinds of the server after each log-in. */
export function startSession(console: Console, browserWindow: Window): Signal<ApiError | undefined> {
  const { session, watches } = console;
  const failure = signal(openIdFailure(takeParameter(browserWindow, 'error')));
  const code = takeParameter(browserWindow, 'code');
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
    if (phase.value !== 'in') watches.stop();
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

/** Why the log-in at the OpenID provider failed, from which the browser was sent back here. */
function openIdFailure(reason: string | undefined): ApiError | undefined {
  if (reason === undefined) return undefined;
  const message =
    reason === 'refused'
      ? 'The log-in at the OpenID provider was refused, or took too long. Try again; the log of the server says more.'
      : 'The OpenID provider cannot be used now. Try again later, or log in by another way; the log of the server says more.';
  return new ApiError({ message }, 401);
}

/** The code must not stay in the address bar, in the history, or in a link that is copied; nor must an error. */
function takeParameter({ location, history }: Window, name: string): string | undefined {
  const query = new URLSearchParams(location.search);
  const value = query.get(name);
  if (value === null) return undefined;
  query.delete(name);
  history.replaceState(null, '', query.size === 0 ? location.pathname : `${location.pathname}?${query}`);
  return value;
}
