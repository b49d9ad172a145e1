/**
 * Which controllers run, by the words of `--controllers`. What stands first wins:
 *
 *   *                 all that are on by default
 *   *,tokencleaner    those and one more
 *   *,-disruption     those without one
 *   namespace         this one alone
 *   -*                none
 */
import { didYouMean } from '../../lib/suggest.ts';
import type { Controller } from './controller.ts';

/** Throws an Error that names a word which means no controller. */
export function selectControllers(all: readonly Controller[], words: readonly string[]): Controller[] {
  const names = all.map((controller) => controller.name);
  for (const word of words) {
    const name = word.startsWith('-') ? word.slice(1) : word;
    if (name !== '*' && !names.includes(name)) {
      throw new Error(`${JSON.stringify(name)} is not the name of a controller${didYouMean(name, names)}; there are ${names.join(', ')}`);
    }
  }
  return all.filter(({ name, onByDefault = true }) => {
    for (const word of words) {
      if (word === name) return true;
      if (word === `-${name}`) return false;
    }
    return onByDefault && words.includes('*');
  });
}
