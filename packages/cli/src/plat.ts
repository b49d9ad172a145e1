/** The program `plat`: runs when it is imported. */
import { basename } from 'node:path';
import { isatty } from 'node:tty';
import { commandClock } from '@plat-dev/lib/clock';
import type { IO } from './command.ts';
import { homeDirectory, workingDirectory } from './home.ts';
import { run } from './index.ts';
import { outputFailure } from './output/output-failure.ts';
import { errorLines } from './program.ts';
import { onStopSignals } from './terminal/stop-signal.ts';

/** Streams are made when they are first used: each takes milliseconds, and most commands read nothing and report no error. */
function errorOutput(): { write(content: string | Buffer): void; readonly waiting: number } {
  let stream: NodeJS.WriteStream | undefined;
  return {
    write(content) {
      if (stream === undefined) {
        stream = process.stderr;
        // There is nowhere left to report it.
        stream.on('error', () => {});
      }
      stream.write(content);
    },
    /** Bytes that are not written yet. */
    get waiting() {
      return stream?.writableLength ?? 0;
    },
  };
}
const errors = errorOutput();

const io: IO = {
  program: /^kubectl(\.|$)/.test(basename(process.argv[1] ?? '')) ? 'kubectl' : 'plat',
  clock: commandClock,
  out: (text) => void process.stdout.write(text),
  err: (text) => errors.write(text),
  fail: (failure) => errors.write(errorLines([failure], io)),
  stdin: async () => (await import('./terminal/standard-input.ts')).readStandardInput(process.stdin),
  env: process.env,
  platform: process.platform,
  cwd: workingDirectory(),
  home: homeDirectory(),
  terminal: {
    get input() {
      return process.stdin;
    },
    interactive: isatty(0),
    errorsAreShown: isatty(2),
    write: (bytes) => void process.stdout.write(bytes),
    writeError: (bytes) => errors.write(bytes),
    raw() {
      process.stdin.setRawMode?.(true);
      return () => void process.stdin.setRawMode?.(false);
    },
    size: () => (process.stdout.isTTY ? { width: process.stdout.columns, height: process.stdout.rows } : undefined),
    onResize(call) {
      process.stdout.on('resize', call);
      return () => void process.stdout.off('resize', call);
    },
    release() {
      process.stdin.pause();
      process.stdin.unref?.();
    },
  },
  width: Math.min(Math.max(process.stdout.columns ?? 100, 60), 140),
  onSignal(handler) {
    return onStopSignals(process, process.platform, handler);
  },
  exit: (code) => process.exit(code),
};

process.stdout.on('error', (error: NodeJS.ErrnoException) => endWithout(error, 0));

function endWithout(error: NodeJS.ErrnoException, code: number): never {
  const failure = outputFailure(error, code);
  if (failure.message !== '') errors.write(`${io.program === 'plat' ? 'plat' : 'error'}: ${failure.message}\n`);
  process.exit(failure.code);
}

void run(process.argv.slice(2), io).then((code) => {
  process.exitCode = code;
  // Its event comes later than this.
  if (process.stdout.errored) endWithout(process.stdout.errored, code);
  // Taking the process apart step by step takes longer than most commands need for their work.
  if (process.stdout.writableLength === 0 && errors.waiting === 0) process.exit();
});
