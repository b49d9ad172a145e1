/** Patterns of paths in a script: `/etc/conf.d/*`. */
import type { Files } from './files.ts';
import { isLike } from './pattern.ts';
import { NotSupported } from './words.ts';

/** Most paths that a pattern may stand for. */
const PATHS_LIMIT = 10_000;
const PATH_WORK = 4;

/** The paths that are like a pattern; the pattern itself if there are none. `spend`: counts work, and may throw. */
export function matching(pattern: string, files: Files, spend: (units: number) => void): string[] {
  const entries = (directory: string, part: string): string[] => {
    const names = files.list(directory === '' ? '.' : directory) ?? [];
    spend(names.length * PATH_WORK + files.takeWork());
    const isShown = (name: string): boolean => !name.startsWith('.') || part.startsWith('.');
    return names.filter((name) => isShown(name) && isLike(name, part)).map((name) => `${directory}${name}`);
  };
  const [first = '', ...rest] = pattern.split('/');
  let paths = first.includes('*') ? entries('', first) : [first];
  for (const part of rest) {
    paths = part.includes('*')
      ? paths.flatMap((directory) => entries(`${directory}/`, part))
      : paths.map((directory) => `${directory}/${part}`);
    if (paths.length > PATHS_LIMIT) throw new NotSupported('a pattern of so many files');
  }
  const existing = paths.filter((path) => {
    spend(PATH_WORK + files.takeWork());
    return files.exists(path);
  });
  return existing.length === 0 ? [pattern] : existing;
}
