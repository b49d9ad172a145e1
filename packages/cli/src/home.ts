/** The directories of the user. None of them is ever relative: it would be another one for each working directory. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { IO } from './command.ts';

/** HOME; where that is no absolute path, the directory that the system has for the user, or the root as in containers. */
export function homeDirectory(homeOfProcess = homedir, ofUser = (): string => userInfo().homedir): string {
  for (const ask of [homeOfProcess, ofUser]) {
    try {
      const directory = ask();
      if (isAbsolute(directory)) return directory;
    } catch {
      // The system does not know this user.
    }
  }
  return '/';
}

/** The root where the working directory was removed: files that are named by a full path can still be read. */
export function workingDirectory(ask = (): string => process.cwd()): string {
  try {
    return ask();
  } catch {
    return '/';
  }
}

type Surroundings = Pick<IO, 'env' | 'home'>;

/** Relative paths are ignored, as the specification of these variables says. */
const directory = (variable: string | undefined, usual: string): string =>
  variable !== undefined && isAbsolute(variable) ? variable : usual;

/** State that outlives a command: background servers. */
export const stateDirectory = ({ env, home }: Surroundings): string =>
  join(directory(env.XDG_STATE_HOME, join(home, '.local', 'state')), 'plat');
/** Files that can be made again. */
export const userCache = ({ env, home }: Surroundings): string => join(directory(env.XDG_CACHE_HOME, join(home, '.cache')), 'plat');
