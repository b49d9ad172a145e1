/** The two ends of a copy: `[[NAMESPACE/]POD:]PATH`. */
import { posix } from 'node:path';
import { FlagError } from '@plat-dev/lib/flags';

export interface Place {
  /** Empty for a local path. */
  readonly pod: string;
  /** Undefined for that of the command line. */
  readonly namespace: string | undefined;
  readonly path: string;
}

/** Throws FlagError. */
export function readPlace(word: string, platform: NodeJS.Platform): Place {
  const colon = word.indexOf(':');
  // A path of Windows may begin with the letter of a drive.
  if (colon === -1 || (platform === 'win32' && /^[a-z]:[\\/]/i.test(word))) return { pod: '', namespace: undefined, path: word };
  const parts = word.slice(0, colon).split('/');
  if (colon === 0 || parts.length > 2 || parts.includes(''))
    throw new FlagError('filespec must match the canonical format: [[namespace/]pod:]file/path');
  const [namespace, pod] = parts.length === 2 ? parts : [undefined, parts[0]];
  return { pod: pod as string, namespace, path: word.slice(colon + 1) };
}

const EXAMPLE = 'For example: plat cp notes.txt web:/tmp/notes.txt';

/** Both ends, of which exactly one is in a pod. Throws FlagError. */
export function readPlaces(args: readonly string[], platform: NodeJS.Platform): { from: Place; to: Place } {
  if (args.length !== 2) throw new FlagError(`source and destination are required. ${EXAMPLE}`);
  const from = readPlace(args[0] as string, platform);
  const to = readPlace(args[1] as string, platform);
  if (from.pod !== '' && to.pod !== '') throw new FlagError(`one of src or dest must be a local file specification. ${EXAMPLE}`);
  if (from.pod === '' && to.pod === '') throw new FlagError(`one of src or dest must be a remote file specification. ${EXAMPLE}`);
  if (from.path === '' || to.path === '') throw new FlagError('filepath can not be empty');
  return { from, to };
}

/** A path in a container, without steps that lead nowhere. */
export const cleanRemote = (path: string): string => posix.normalize(path.replaceAll('\\', '/')).replace(/(.)\/$/, '$1');

/** What the names of an archive of a path begin with: `/a/../b/c` → `b/c`, `../../x` → `x`, `.` → ``. */
export function archivePrefix(path: string): string {
  const clean = cleanRemote(path.replace(/^[/\\]+/, ''));
  const parts = clean.split('/').filter((part) => part !== '..' && part !== '.');
  return parts.join('/');
}
