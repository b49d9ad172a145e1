/**
 * Writes a file that is about to be run, so that no other user can have chosen what it holds.
 *
 * - Its directory belongs to this user and is open to nobody else (0700). Every directory above belongs to this user or to root, and
 *   where everybody may write into one, it is sticky: nobody else can put another directory in the place of ours.
 * - A file that exists is used only if it belongs to this user and has the expected content. Otherwise it is replaced as a whole, so that
 *   a process that has it loaded keeps what it has, and two that write it at once do no harm.
 * - The content is compared after it was written, too.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { systemRandom } from '@plat-dev/lib/random';

export interface PrivateFile {
  readonly directory: string;
  readonly name: string;
  /** Of the content, in hexadecimal digits. */
  readonly sha256: string;
  readonly content: Buffer;
}

const OTHERS_MAY_WRITE = 0o002;
const STICKY = 0o1000;

/** Windows has no such users and modes: there a file is as private as the directory of the user. Tests pass another user in. */
const currentUser = (): number | undefined => process.getuid?.();

/** Returns the path of the file. Throws where the place is not private, or cannot be written. */
export function privateCopy({ directory, name, sha256, content }: PrivateFile, user = currentUser()): string {
  const place = privateDirectory(directory, user);
  const file = join(place, name);
  if (hashOf(file, user) === sha256) return file;
  const temporary = join(place, `${name}.${systemRandom.bytes(8).toString('hex')}.new`);
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  if (hashOf(file, user) !== sha256) throw new Error(`${file} does not hold what was written to it`);
  return file;
}

/** The real path of the directory, which is made where it does not exist. */
function privateDirectory(directory: string, user: number | undefined): string {
  makeDirectory(directory, 0o700);
  const entry = lstatSync(directory);
  if (!entry.isDirectory()) throw new Error(`${directory} is not a directory`);
  const path = realpathSync(directory);
  if (user === undefined) return path;
  if (entry.uid !== user) throw new Error(`${directory} belongs to another user`);
  if ((entry.mode & 0o077) !== 0) chmodSync(path, 0o700);
  for (let above = dirname(path); ; above = dirname(above)) {
    const reason = notTrusted(statSync(above), user);
    if (reason !== undefined) throw new Error(`${above} ${reason}`);
    if (above === dirname(above)) return path;
  }
}
function notTrusted({ uid, mode }: Stats, user: number): string | undefined {
  if (uid !== user && uid !== 0) return 'belongs to another user';
  return (mode & OTHERS_MAY_WRITE) !== 0 && (mode & STICKY) === 0 ? 'can be written by everybody' : undefined;
}

/** Undefined: there is no such file of this user. */
function hashOf(file: string, user: number | undefined): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const facts = fstatSync(descriptor);
    if (!facts.isFile() || (user !== undefined && facts.uid !== user)) return undefined;
    return createHash('sha256').update(readFileSync(descriptor)).digest('hex');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ELOOP: it is a link.
    if (code === 'ENOENT' || code === 'ELOOP') return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
