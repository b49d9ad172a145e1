/** Runs a command for a client: output as it is made, input by the line, real waits. */
import { bytesOf, textOf } from '@plat-dev/lib/byte-text';
import type { Clock } from '@plat-dev/lib/clock';
import { Slices } from '@plat-dev/lib/slices';
import { commandStatus } from '@plat-dev/meta/errors';
import { baseName, type Environment, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import type { CommandStreams } from './streams.ts';

/** The exit codes of shells for what is not there, and for what was interrupted. */
const NOT_FOUND = 127;
const INTERRUPTED = 130;
const CANNOT_RUN = 126;

/** Resolves at the end of the command with its exit code, or without one when the client is gone. */
export async function runFor(
  streams: CommandStreams,
  argv: readonly string[],
  environment: Environment,
  { clock, tty, ended }: { readonly clock: Clock; readonly tty: boolean; readonly ended?: (code: number) => Promise<void> },
): Promise<number | undefined> {
  const lines = new Lines(streams, tty);
  let code: number;
  try {
    code = await drive(streams, run(argv, environment), lines, clock, tty, tty && isShell(argv));
  } catch (error) {
    if (streams.signal.aborted) return undefined;
    if (error instanceof Interrupted) code = INTERRUPTED;
    else if (error instanceof UnknownProgram) {
      const text = `exec: ${JSON.stringify(error.program)}: executable file not found in $PATH; simulated containers have a few programs only\n`;
      await streams.write('err', Buffer.from(text));
      code = NOT_FOUND;
    } else if (error instanceof NotSupported) {
      await streams.write('err', Buffer.from(`sh: ${error.message}: not supported by simulated containers\n`));
      code = CANNOT_RUN;
    } else throw error;
  }
  await ended?.(code);
  if (!streams.signal.aborted) streams.finish(commandStatus(code));
  return code;
}

const isShell = ([program = '', ...args]: readonly string[]): boolean =>
  /^(ba|a|da)?sh$/.test(baseName(program)) && args.every((arg) => arg.startsWith('-'));

class Interrupted extends Error {}

async function drive(
  streams: CommandStreams,
  running: ReturnType<typeof run>,
  lines: Lines,
  clock: Clock,
  tty: boolean,
  prompts: boolean,
): Promise<number> {
  const output = new Output(streams, tty);
  let answer: string | undefined;
  const slices = new Slices();
  try {
    for (;;) {
      if (slices.due) {
        await output.flush();
        await slices.pause();
      }
      const { done, value } = running.next(answer);
      answer = undefined;
      if (done === true) return value;
      if (streams.signal.aborted) throw new Interrupted();
      if ('out' in value) await output.add('out', value.out);
      else if ('err' in value) await output.add('err', value.err);
      else if ('waitMs' in value) {
        await output.flush();
        await lines.unlessInterrupted(clock.sleep(value.waitMs, streams.signal));
      } else if ('input' in value) {
        if (prompts) await output.add('out', '# ');
        await output.flush();
        answer = await lines.unlessInterrupted(lines.next());
      }
    }
  } finally {
    await output.flush();
  }
}

/** Output that is sent before the command goes on. */
const OUTPUT_LIMIT = 16 * 1024;

/** Gathers what a command prints at once: thousands of short lines are not as many messages. */
class Output {
  private readonly streams: CommandStreams;
  private readonly tty: boolean;
  private to: 'out' | 'err' = 'out';
  private text = '';

  constructor(streams: CommandStreams, tty: boolean) {
    this.streams = streams;
    this.tty = tty;
  }
  async add(requestedTo: 'out' | 'err', text: string): Promise<void> {
    const to = this.tty ? 'out' : requestedTo;
    if (to !== this.to) await this.flush();
    this.to = to;
    this.text += this.tty ? text.replaceAll('\n', '\r\n') : text;
    if (this.text.length >= OUTPUT_LIMIT) await this.flush();
  }
  async flush(): Promise<void> {
    const { text } = this;
    this.text = '';
    if (text !== '' && !this.streams.signal.aborted) await this.streams.write(this.to, bytesOf(text));
  }
}

/** What is longer without the end of a line, as an archive may be, is read as if it were a line. */
const LINE_LIMIT = 64 * 1024;
/** Characters that may wait to be read; a client that has sent more waits until a quarter of it is left. */
const WAITING_LIMIT = 1 << 20;

/** The input of a command by the line. On a terminal it is shown as it is typed; Ctrl-C interrupts, Ctrl-D ends it. */
class Lines {
  private readonly streams: CommandStreams;
  private readonly tty: boolean;
  /** What came and is not read, from `at` on. */
  private text = '';
  private at = 0;
  private isHeldBack = false;
  private ended = false;
  private wake: () => void = () => {};
  private interrupt: (error: Error) => void = () => {};

  constructor(streams: CommandStreams, tty: boolean) {
    this.streams = streams;
    this.tty = tty;
    streams.signal.addEventListener('abort', () => this.end(), { once: true });
    streams.onInput((chunk) => {
      if (chunk === undefined) this.end();
      else this.take(textOf(chunk));
    });
  }
  async next(): Promise<string | undefined> {
    let line = this.line();
    for (; line === undefined && !this.ended; line = this.line()) await new Promise<void>((resolve) => (this.wake = resolve));
    if (this.isHeldBack && this.text.length - this.at < WAITING_LIMIT / 4) {
      this.isHeldBack = false;
      this.streams.hold(false);
    }
    return line;
  }
  /** The next line that is complete, at the end what there is; undefined if there is none. */
  private line(): string | undefined {
    const end = this.text.indexOf('\n', this.at) + 1;
    const isPartial = this.ended ? this.at < this.text.length : this.text.length - this.at > LINE_LIMIT;
    if (end === 0 && !isPartial) return undefined;
    const line = this.text.slice(this.at, end === 0 ? undefined : end);
    this.at += line.length;
    return line;
  }
  /** Rejects when the user interrupts. */
  unlessInterrupted<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.interrupt = reject;
      work.then(resolve, reject);
    });
  }

  private take(text: string): void {
    if (this.tty) {
      if (text.includes('\x03')) {
        this.interrupt(new Interrupted());
        return;
      }
      void this.streams.write('out', Buffer.from(text.replaceAll('\x04', '').replaceAll('\r', '\r\n')));
      if (text.includes('\x04')) {
        this.end();
        return;
      }
    }
    this.text = this.text.slice(this.at) + (this.tty ? text.replaceAll('\r', '\n') : text);
    this.at = 0;
    if (!this.isHeldBack && this.text.length > WAITING_LIMIT) {
      this.isHeldBack = true;
      this.streams.hold(true);
    }
    this.wake();
  }
  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.wake();
  }
}
