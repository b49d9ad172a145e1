/** Labels and annotations on a command line: `key=value` sets, `key-` removes. */
import { FlagError } from '@plat-dev/lib/flags';

export interface Changes {
  /** Null removes. */
  readonly pairs: ReadonlyMap<string, string | null>;
  /** The arguments before them, which name objects. */
  readonly args: readonly string[];
}

const isChange = (word: string): boolean => word.includes('=') || (word.endsWith('-') && word.length > 1);

/** Takes the changes off the end of a command line. Throws FlagError. */
export function readChanges(all: readonly string[]): Changes {
  const first = all.findIndex(isChange);
  const args = first === -1 ? all : all.slice(0, first);
  const pairs = new Map<string, string | null>();
  for (const word of first === -1 ? [] : all.slice(first)) {
    if (!isChange(word)) throw new FlagError(`${JSON.stringify(word)} is neither key=value nor key-; objects come before them`);
    const at = word.indexOf('=');
    const [key, value] = at === -1 ? [word.slice(0, -1), null] : [word.slice(0, at), word.slice(at + 1)];
    if (key === '') throw new FlagError(`${JSON.stringify(word)} has no key`);
    if (pairs.has(key)) throw new FlagError(`${JSON.stringify(key)} is given twice`);
    pairs.set(key, value);
  }
  return { args, pairs };
}
