/** The order of arguments: flags may stand anywhere, before the names of commands as well. */
import { own } from '@plat-dev/lib/own';
import type { Command, CommandEntry } from './command.ts';

export const isFlag = (word: string): boolean => word.startsWith('-') && word !== '-' && word !== '--';

/** Which flags take the next argument as their value. */
export type Arities = Readonly<Record<string, Readonly<Record<string, { readonly isSwitch: boolean; readonly short?: string }>>>>;

export const entryOf = (name: string | undefined, table: readonly CommandEntry[]): CommandEntry | undefined =>
  table.find((entry) => entry.name === name || entry.aliases?.includes(name ?? ''));

/**
 * Moves flags at the beginning, with their values, behind the arguments that follow them. Flags that are not in the table belong
 * to one of the commands that may follow: as in the stock client the next argument is their value, unless it names a command.
 *
 *   rollout: --to-revision 2 undo deployment/web → undo deployment/web --to-revision 2
 *            --dry-run undo deployment/web       → undo deployment/web --dry-run
 */
export function flagsLast(args: readonly string[], table: Arities, commands: readonly CommandEntry[]): readonly string[] {
  const flagsByName = Object.fromEntries(Object.values(table).flatMap((flags) => Object.entries(flags)));
  const takesNext = (word: string, next = '-'): boolean => {
    const flagOfWord = word.startsWith('--')
      ? own(flagsByName, word.slice(2))
      : Object.entries(flagsByName).find(([name, { short = name }]) => `-${short}` === word)?.[1];
    if (flagOfWord !== undefined) return !flagOfWord.isSwitch;
    return /^(-[^-]|--[^=]+)$/.test(word) && !next.startsWith('-') && entryOf(next, commands) === undefined;
  };
  let at = 0;
  while (at < args.length && isFlag(args[at] as string)) at += takesNext(args[at] as string, args[at + 1]) ? 2 : 1;
  let end = at;
  while (end < args.length && !isFlag(args[end] as string) && args[end] !== '--') end++;
  return end <= at ? args : [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
}

export interface FoundCommand {
  readonly command: Command;
  /** The names that lead to it: `config view`. */
  readonly path: readonly string[];
  /** Its own arguments. */
  readonly own: readonly string[];
}
/** The command that the arguments after the name of `entry` lead to. */
export async function commandBelow(entry: CommandEntry, args: readonly string[], globalFlags: Arities): Promise<FoundCommand> {
  const path = [entry.name];
  let command = await entry.load();
  let own = args;
  while (command.commands !== undefined) {
    own = flagsLast(own, { ...globalFlags, ...command.flags }, command.commands);
    const below = entryOf(own[0], command.commands);
    if (below === undefined) break;
    path.push(below.name);
    command = await below.load();
    own = own.slice(1);
  }
  return { command, path, own };
}
