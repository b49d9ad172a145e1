/**
 * Interrupts of commands that talk to a server:
 *
 *   SIGINT             the command is aborted, and ends with 130 (SIGTERM: 143)
 *   a second one       the process exits at once
 *   two seconds later  the process exits, whatever the command waits for
 *
 * While another program has the terminal, such as an editor or a pager, interrupts are for that.
 */
import { setMaxListeners } from 'node:events';
import type { Cancel } from '@plat-dev/lib/clock';
import type { IO, Terminal } from '../command.ts';

/** How long an aborted command may take to end. */
export const INTERRUPT_MS = 2000;

export interface Interrupts {
  readonly signal: AbortSignal;
  /** The exit code of an interrupted command. */
  readonly code: number;
  /** Stops listening. */
  forget(): void;
}

/** Each request listens for the interrupt, and a command may send many at once. Node prints a warning about more than this. */
export const MOST_REQUESTS = 10_000;

export function interrupts(io: IO): Interrupts {
  const stop = new AbortController();
  setMaxListeners(MOST_REQUESTS, stop.signal);
  let code = 130;
  let cancel: Cancel | undefined;
  const forget = io.onSignal((signal) => {
    if (signal === 'SIGINT' && lent.has(io.terminal)) return;
    code = signal === 'SIGINT' ? 130 : 143;
    if (stop.signal.aborted) return io.exit(code);
    cancel = io.clock.after(INTERRUPT_MS, () => io.exit(code), true);
    stop.abort();
  });
  return {
    signal: stop.signal,
    get code() {
      return code;
    },
    forget() {
      forget();
      cancel?.();
    },
  };
}

/** Terminals that another program has. */
const lent = new WeakSet<Terminal>();

/** Runs another program that takes over the terminal, and its interrupts. */
export async function lendTerminal<T>(io: IO, program: () => Promise<T>): Promise<T> {
  // With no handler at all the signal would end this process.
  const forget = io.onSignal(() => {});
  lent.add(io.terminal);
  try {
    return await program();
  } finally {
    lent.delete(io.terminal);
    forget();
  }
}

/** For what is read before anything is sent: an interrupt ends the process at once, as nothing is left half done. */
export async function exitOnInterrupt<T>({ onSignal, exit }: Partial<Pick<IO, 'onSignal' | 'exit'>>, read: () => Promise<T>): Promise<T> {
  const forget = onSignal?.((signal) => exit?.(signal === 'SIGINT' ? 130 : 143));
  try {
    return await read();
  } finally {
    forget?.();
  }
}
