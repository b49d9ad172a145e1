/** Stop signals for commands that run until they are interrupted. */
import type { IO } from './command.ts';

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
