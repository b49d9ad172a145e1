/** Stop signals for commands that run until they are interrupted. */
import type { IO } from '../command.ts';

type Handler = (signal: 'SIGINT' | 'SIGTERM') => void;

/** Windows sends SIGBREAK for Ctrl+Break, and SIGHUP when the window is closed; nothing can send it SIGTERM. */
const windowsSignals = ['SIGBREAK', 'SIGHUP'] as const;

/** Calls for each interrupt or termination. Returns the function that stops listening. */
export function onStopSignals(source: Pick<NodeJS.EventEmitter, 'on' | 'off'>, platform: NodeJS.Platform, handler: Handler): () => void {
  const terminate = (): void => handler('SIGTERM');
  const listeners = [
    ['SIGINT', () => handler('SIGINT')] as const,
    ...['SIGTERM', ...(platform === 'win32' ? windowsSignals : [])].map((signal) => [signal, terminate] as const),
  ];
  for (const [signal, listener] of listeners) source.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) source.off(signal, listener);
  };
}

export interface StopSignal {
  /** Resolves with the first signal; a second one ends the process at once. */
  readonly stopped: Promise<void>;
  /** Whether the first signal has come. */
  isStopping(): boolean;
  /** Stops listening. */
  forget(): void;
}

export function stopSignal(io: IO): StopSignal {
  let stopping = false;
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const forget = io.onSignal((signal) => {
    if (stopping) io.exit(signal === 'SIGINT' ? 130 : 143);
    else {
      stopping = true;
      stop();
    }
  });
  return { stopped, isStopping: () => stopping, forget };
}
