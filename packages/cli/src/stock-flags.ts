/** Flags that the stock client takes with every command, while they mean nothing to some. */
import type { Command, IO } from './command.ts';
import { connectFlags, logFileFlags } from './global-flags.ts';

/**
 * The arguments without flags about log files, which are deprecated there and unknown here, and without global flags that the
 * command does not have: `kubectl --context a config view`.
 */
export function withoutStockFlags(args: readonly string[], { flags }: Command, io: Pick<IO, 'err'>): readonly string[] {
  const own = new Set(Object.values(flags).flatMap((group) => Object.keys(group)));
  const unused = new Map<string, { isSwitch: boolean; short?: string }>(Object.entries(connectFlags).filter(([name]) => !own.has(name)));
  const remainingArgs: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === '--') return [...remainingArgs, ...args.slice(i)];
    const name = nameOf(word, unused);
    const isSwitch = logFileFlags.get(name) ?? unused.get(name)?.isSwitch;
    if (isSwitch === undefined) {
      remainingArgs.push(word);
      continue;
    }
    if (logFileFlags.has(name)) io.err(`Flag --${name} has been deprecated, there are no log files\n`);
    if (!isSwitch && !word.includes('=')) i++;
  }
  return remainingArgs;
}

function nameOf(word: string, unused: ReadonlyMap<string, { readonly short?: string }>): string {
  if (word.startsWith('--')) return word.slice(2).split('=')[0] as string;
  if (!/^-[a-z](=|$)/.test(word)) return '';
  return [...unused].find(([name, { short = name }]) => short === word[1])?.[0] ?? '';
}
