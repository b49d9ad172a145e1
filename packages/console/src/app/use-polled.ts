/** A request that is repeated while the page is visible. */
import { useEffect, useState } from 'preact/hooks';
import { asApiError, isAborted } from '../api/api-error.ts';
import { useConsole } from './console.ts';
import type { Loaded } from './use.ts';

/** The newest result. While another one is under way the last one stays; a failure takes its place only where there is none. */
export function usePolled<T>(load: (signal: AbortSignal) => Promise<T>, periodMillis: number, inputs: readonly unknown[]): Loaded<T> {
  const { clock } = useConsole();
  const [state, setState] = useState<Loaded<T>>({ phase: 'loading' });
  useEffect(() => {
    const abort = new AbortController();
    let isBusy = false;
    const poll = async (): Promise<void> => {
      if (isBusy || document.hidden) return;
      isBusy = true;
      try {
        const value = await load(abort.signal);
        if (!abort.signal.aborted) setState({ phase: 'ready', value });
      } catch (error) {
        if (abort.signal.aborted || isAborted(error)) return;
        setState((last) => (last.phase === 'ready' ? last : { phase: 'failed', error: asApiError(error) }));
      } finally {
        isBusy = false;
      }
    };
    setState({ phase: 'loading' });
    void poll();
    const cancel = clock.every(periodMillis, () => void poll());
    const shown = (): void => void poll();
    document.addEventListener('visibilitychange', shown);
    return () => {
      abort.abort();
      cancel();
      document.removeEventListener('visibilitychange', shown);
    };
  }, inputs);
  return state;
}
