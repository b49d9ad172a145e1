/**
 * The controllers to run, by the items of `--controllers`. The first match wins:
 *
 *   *                 all that are on by default
 *   *,tokencleaner    the same and one more
 *   *,-disruption     the same without one
 *   namespace         this one alone
 *   -*                none
 */
import { didYouMean } from '@plat-dev/lib/suggest';
import type { Controller } from './controller.ts';

/** Controllers that run with another flag only. */
export interface Absent {
  readonly names: readonly string[];
  readonly needs: string;
}

/** Throws an Error that names an unknown controller. */
export function selectControllers(all: readonly Controller[], words: readonly string[], absent?: Absent): Controller[] {
  const names = all.map((controller) => controller.name);
  for (const word of words) {
    const name = word.startsWith('-') ? word.slice(1) : word;
    if (name !== '*' && !names.includes(name)) {
      if (absent?.names.includes(name)) throw new Error(`the controller ${JSON.stringify(name)} needs ${absent.needs}`);
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
