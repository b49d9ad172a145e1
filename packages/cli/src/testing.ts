/** A terminal for tests: the output of a command is kept, signals are sent by the test. */
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { commandClock } from '@plat-dev/lib/clock';
import type { IO } from './command.ts';
import { errorLines } from './program.ts';

export interface TestIO extends IO {
  stdout: string;
  stderr: string;
  exited: number | undefined;
  send(signal: 'SIGINT' | 'SIGTERM'): void;
  /** Resolves when the output holds a text. */
  said(text: string): Promise<void>;
}

export function testIO(changes: Partial<IO> = {}): TestIO {
  const handlers = new Set<(signal: 'SIGINT' | 'SIGTERM') => void>();
  const waiting = new Set<() => void>();
  const io: TestIO = {
    program: 'plat',
    clock: commandClock,
    stdout: '',
    stderr: '',
    exited: undefined,
    out(text) {
      io.stdout += text;
      for (const check of waiting) check();
    },
    err(text) {
      io.stderr += text;
      for (const check of waiting) check();
    },
    fail: (failure) => io.err(errorLines([failure], io)),
    stdin: async () => '',
    terminal: {
      input: Readable.from([]),
      interactive: false,
      write: (bytes) => io.out(bytes.toString()),
      writeError: (bytes) => io.err(bytes.toString()),
      raw: () => () => {},
      size: () => undefined,
      onResize: () => () => {},
      release: () => {},
    },
    env: {},
    platform: 'linux',
    cwd: tmpdir(),
    home: '/nonexistent',
    width: 100,
    onSignal(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exit(code) {
      io.exited = code;
    },
    send(signal) {
      for (const handler of handlers) handler(signal);
    },
    said: (text) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!io.stdout.includes(text) && !io.stderr.includes(text)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    ...changes,
  };
  return io;
}
