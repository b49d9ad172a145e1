/** What a command of `plat` is, and the world it runs in. */

import type { Readable } from 'node:stream';
import { type FlagTable, flagHelp, type ParsedFlags, parseFlags } from '../lib/flags.ts';

/** The terminal as bytes and keys, for programs that run elsewhere. */
export interface Terminal {
  readonly input: Readable;
  /** Whether the input is someone's keyboard. */
  readonly interactive: boolean;
  write(bytes: Buffer): void;
  writeError(bytes: Buffer): void;
  /** From now on every key goes through as it is. Answers the function that ends that. */
  raw(): () => void;
  size(): { readonly width: number; readonly height: number } | undefined;
  /** Answers the function that stops listening. */
  onResize(call: () => void): () => void;
  /** The input is wanted no more. */
  release(): void;
}

/** The terminal, environment and signals, passed in so that a test can stand in for them. */
export interface IO {
  out(text: string): void;
  err(text: string): void;
  /** All that comes in. */
  stdin(): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly terminal: Terminal;
  /** Columns of the terminal. */
  readonly width: number;
  /** Called for each interrupt or termination. Answers the function that stops listening. */
  onSignal(handler: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Ends the process now, with no regard for what is under way. */
  exit(code: number): void;
}

export interface Command {
  /** Words after the command's name, for the first line of help. */
  readonly usage: string;
  readonly summary: string;
  /** Every flag that it may be given: shells complete them. */
  readonly flags: FlagTable;
  /** Flags and examples. */
  help(width: number): string;
  /** Commands below this one: `view` of `config`. A first word that is none of them is for `run`. */
  readonly commands?: readonly CommandEntry[];
  /** Answers the exit code. Throws FlagError or ConfigError for what the person typed, other errors for what went wrong. */
  run(args: readonly string[], io: IO): Promise<number>;
}

/** A command as its file tells of it: help, completion and the reading of the command line follow from its flags. */
export interface CommandDefinition<Table extends FlagTable> extends Pick<Command, 'usage' | 'summary' | 'commands'> {
  readonly flags: Table;
  /** What help says besides the flags. */
  readonly more?: string;
  run(line: ParsedFlags<Table>, io: IO): Promise<number>;
}
export function command<Table extends FlagTable>({ flags, more = '', run, ...rest }: CommandDefinition<Table>): Command {
  return {
    ...rest,
    flags,
    help: (width) => `${flagHelp(flags, width)}${more}`,
    // What is wrong with the line is a failure of the command, not of whoever runs it.
    run: async (args, io) => run(parseFlags(flags, args), io),
  };
}

/** A command that is loaded when it is used. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}
