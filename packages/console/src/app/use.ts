/** Hooks that many components use. */
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { type ApiError, asApiError, isAborted } from '../api/api-error.ts';
import { visibleText } from '../parts/visible-text.ts';
import { useConsole } from './console.ts';
import type { KeyBinding } from './keyboard.ts';

/** Keys that hold as soon as the component is shown, and while it is. Give them anew where `inputs` differ. */
export function useKeys(bindings: readonly KeyBinding[], inputs: readonly unknown[]): void {
  const { keyboard } = useConsole();
  useLayoutEffect(() => keyboard.add(bindings), inputs);
}

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Console' : `${visibleText(title)} · Console`;
  }, [title]);
}

/** Something that is open while the component is shown, such as a Collection; another one where `inputs` differ. */
export function useOpened<T extends { close(): void }>(open: () => T, inputs: readonly unknown[]): T {
  const opened = useMemo(open, inputs);
  useEffect(() => () => opened.close(), [opened]);
  return opened;
}

export type Loaded<T> =
  | { readonly phase: 'loading' }
  | { readonly phase: 'ready'; readonly value: T }
  | { readonly phase: 'failed'; readonly error: ApiError };

/** The result of a request, asked for anew where `inputs` differ. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ phase: 'loading' });
  useEffect(() => {
    const abort = new AbortController();
    setState({ phase: 'loading' });
    load(abort.signal).then(
      (value) => abort.signal.aborted || setState({ phase: 'ready', value }),
      (error: unknown) => abort.signal.aborted || isAborted(error) || setState({ phase: 'failed', error: asApiError(error) }),
    );
    return () => abort.abort();
  }, inputs);
  return state;
}

/** The time in milliseconds since 1970, again after each period. */
export function useNow(periodMillis = 1000): number {
  const { clock } = useConsole();
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => clock.every(periodMillis, () => setNow(clock.now())), [clock, periodMillis]);
  return now;
}

/** True once a wait has lasted for 300 ms: shorter ones show no progress. */
export function useLongWait(isWaiting: boolean): boolean {
  const { clock } = useConsole();
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (isWaiting) return clock.after(PROGRESS_MILLIS, () => setLong(true));
    setLong(false);
    return undefined;
  }, [clock, isWaiting]);
  return isWaiting && isLong;
}
const PROGRESS_MILLIS = 300;
