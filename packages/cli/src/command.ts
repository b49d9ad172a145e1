/** The contract of a command of `plat`, and its input and output. */

import type { Readable } from 'node:stream';
import type { KeptAgents } from '@plat-dev/client/agents';
import type { Clock } from '@plat-dev/lib/clock';
import { type FlagTable, flagHelp, type ParsedFlags, parseFlags } from '@plat-dev/lib/flags';
import type { RepeatedFlags } from './terminal/repeated-flags.ts';

/** The terminal as a stream of bytes, for commands that run in a container. */
export interface Terminal {
  readonly input: Readable;
  /** Whether stdin is a terminal. */
  readonly interactive: boolean;
  /** Whether stderr is a terminal. */
  readonly errorsAreShown?: boolean;
  write(bytes: Buffer): void;
  writeError(bytes: Buffer): void;
  /** Switches to raw mode: every key is passed through. Returns the function that ends it. */
  raw(): () => void;
  size(): { readonly width: number; readonly height: number } | undefined;
  /** Returns the function that stops listening. */
  onResize(call: () => void): () => void;
  /** Stops reading the input. */
  release(): void;
}

/** An error of one object or file, with which a command goes on. */
export interface Failure {
  readonly error: unknown;
  /** What was done when it happened, or which object it is about: `error when creating "web.yaml"`. */
  readonly during?: string;
  /** The stock client reports it in a list of errors even where it is the only one; by default one of an item of a list. */
  readonly asList?: boolean | undefined;
}

/** The name that the program was called by. As `kubectl` it behaves as the stock client wherever scripts can notice. */
export type ProgramName = 'plat' | 'kubectl';

/** The terminal, environment, clock and signals, passed in so that a test can stand in for them. */
export interface IO {
  readonly program: ProgramName;
  /** Of the command that runs. */
  readonly repeatedFlags?: RepeatedFlags | undefined;
  readonly clock: Clock;
  out(text: string): void;
  err(text: string): void;
  /** Reports an error that does not end the command. */
  fail(failure: Failure): void;
  /** The whole of stdin. */
  stdin(): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  readonly home: string;
  readonly terminal: Terminal;
  /** Columns of the terminal. */
  readonly width: number;
  /** Called for each interrupt or termination. Returns the function that stops listening. */
  onSignal(handler: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Exits the process at once. */
  exit(code: number): void;
  /** Connections that outlast a command, where more than one runs in the process. */
  readonly connections?: KeptAgents | undefined;
}

export interface Command {
  /** Arguments after the command's name, for the first line of help. */
  readonly usage: string;
  readonly summary: string;
  /** Its flags, which shells complete. */
  readonly flags: FlagTable;
  /** Flags and examples. */
  help(width: number): string;
  /** Commands below this one: `view` of `config`. A first argument that is none of them goes to `run`. */
  readonly commands?: readonly CommandEntry[];
  /** Returns the exit code. Throws FlagError or ConfigError for bad usage, other errors for failures. */
  run(args: readonly string[], io: IO): Promise<number>;
}

/** A command as its file declares it: help, completion and parsing follow from its flags. */
export interface CommandDefinition<Table extends FlagTable> extends Pick<Command, 'usage' | 'summary' | 'commands'> {
  readonly flags: Table;
  /** Help after the list of flags. */
  readonly more?: string;
  run(line: ParsedFlags<Table>, io: IO): Promise<number>;
}
export function command<Table extends FlagTable>({ flags, more = '', run, ...rest }: CommandDefinition<Table>): Command {
  return {
    ...rest,
    flags,
    help: (width) => helpText(flags, more, width),
    // A usage error is thrown by the returned promise.
    run: async (args, io) => run(parseFlags(flags, args), io),
  };
}

/** Flags and further paragraphs, with one blank line between them. Global flags are left to `plat options`. */
export function helpText(flags: FlagTable, more: string, width: number): string {
  const hasGlobal = Object.values(flags).some((group) => Object.values(group).some((flag) => flag.global));
  const hint = hasGlobal ? 'Global flags, such as -n and --context, are listed by `plat options`.' : '';
  const parts = [flagHelp(flags, width), more, hint].map((part) => part.replace(/^\n+|\n+$/g, ''));
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** A command that is loaded when it is used. */
export interface CommandEntry {
  readonly name: string;
  /** Other names for it. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Whether the stock client has no such command: as kubectl its name is free for plug-ins. */
  readonly own?: boolean;
  load(): Promise<Command>;
}
