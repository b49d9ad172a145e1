/** The order of arguments: flags may stand anywhere. */
import { own } from '@plat-dev/lib/own';

export const isFlag = (word: string): boolean => word.startsWith('-') && word !== '-' && word !== '--';

/** Which flags take the next argument as their value. */
export type Arities = Readonly<Record<string, Readonly<Record<string, { readonly isSwitch: boolean; readonly short?: string }>>>>;

/** Moves flags at the beginning, with their values, behind the arguments that follow them. */
export function flagsLast(args: readonly string[], table: Arities): readonly string[] {
  const flagsByName = Object.fromEntries(Object.values(table).flatMap((flags) => Object.entries(flags)));
  const takesNext = (word: string): boolean => {
    const flagOfWord = word.startsWith('--')
      ? own(flagsByName, word.slice(2))
      : Object.entries(flagsByName).find(([name, { short = name }]) => `-${short}` === word)?.[1];
    return flagOfWord !== undefined && !flagOfWord.isSwitch;
  };
  let at = 0;
  while (at < args.length && isFlag(args[at] as string)) at += takesNext(args[at] as string) ? 2 : 1;
  let end = at;
  while (end < args.length && !isFlag(args[end] as string) && args[end] !== '--') end++;
  return end <= at ? args : [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
}
