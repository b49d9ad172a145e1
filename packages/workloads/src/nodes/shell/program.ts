/** What a program of simulated containers is: a generator, so that its user decides how time passes and who reads its output. */
import type { Files } from './files.ts';
import type { ShellWork } from './work.ts';

export type ProcessStep =
  | { readonly out: string }
  | { readonly err: string }
  | { readonly waitMs: number }
  /** Has worked for a while: others may go first. */
  | { readonly busy: true }
  /** Wants a line of the input; the answer is undefined at its end. */
  | { readonly input: true };

export interface Environment {
  readonly variables: Map<string, string>;
  readonly files: Files;
  readonly hostname: string;
  readonly now: () => number;
  /** A number from 0 up to, but not including, 32768. */
  readonly random: () => number;
  /** What all shells of this run have done together. */
  work?: ShellWork;
  /** A shell has set a trap for the signal by which containers are stopped. */
  trapsTerm?: boolean;
}
/** Ends with the exit code. */
export type Running = Generator<ProcessStep, number, string | undefined>;
export type Program = (args: readonly string[], environment: Environment) => Running;

export const exits = (code: number): Program =>
  // biome-ignore lint/correctness/useYield: a program need not wait or write.
  function* () {
    return code;
  };

/** Arguments that are no options, and the letters of those that are. */
export function optionsOf(args: readonly string[]): { readonly letters: string; readonly operands: readonly string[] } {
  const end = args.indexOf('--');
  const argsBeforeEnd = end < 0 ? args : args.slice(0, end);
  const isOption = (arg: string): boolean => arg.startsWith('-') && arg.length > 1;
  const letters = argsBeforeEnd.filter((arg) => isOption(arg) && !arg.startsWith('--')).map((arg) => arg.slice(1));
  const operands = [...argsBeforeEnd.filter((arg) => !isOption(arg)), ...(end < 0 ? [] : args.slice(end + 1))];
  return { letters: letters.join(''), operands };
}
