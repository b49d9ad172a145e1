/** The way in at the start: by the code of the link, or by the session that is already there. */
import { effect, type Signal, signal } from '@preact/signals';
import { type ApiError, asApiError } from '../api/api-error.ts';
import type { Console } from './console.ts';

/** The error of the link's code or of the first request, if there is one. Reads the kinds of the server after each log-in. */
export function startSession({ session, discovery, watches }: Console, browserWindow: Window): Signal<ApiError | undefined> {
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
  effect(() => {
    const { phase } = session.state.value;
    if (phase === 'in') void discovery.load();
    if (phase === 'out') watches.stop();
  });
  void enter();
  return failure;
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
