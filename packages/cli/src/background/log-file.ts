/**
 * The log of a server in the background, bounded: it is the process's own output, so that what Node writes before it exits is
 * in it. At `MOST_LOG_BYTES` its content moves to `server.log.1` and the file becomes empty; both together take twice that at most.
 */
import { copyFileSync, fstatSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import type { LogWriter } from '@plat-dev/lib/log';
import type { IO } from '../command.ts';

/** The variable in which `plat up` names the file. */
export const LOG_VARIABLE = 'PLAT_SERVER_LOG';
const MOST_LOG_BYTES: number = 16 * 2 ** 20;
/** Where the file is kept when a new one begins. */
export const previousLog = (path: string): string => `${path}.1`;

const STDERR = 2;

/** Writes the log of this process if its standard error is the file that the variable names. */
export function backgroundLogWriter({ env }: Pick<IO, 'env'>, fd: number = STDERR, maxBytes = MOST_LOG_BYTES): LogWriter | undefined {
  const path = env[LOG_VARIABLE];
  if (path === undefined || !isFile(path, fd)) return undefined;
  return (lines) => {
    try {
      if (fstatSync(fd).size + Buffer.byteLength(lines) > maxBytes) rotate(path, fd);
      writeSync(fd, lines);
    } catch {
      // A log that cannot be written, on a full disk for example, must not stop the server.
    }
  };
}

function isFile(path: string, fd: number): boolean {
  const [named, own] = [statSync(path, { throwIfNoEntry: false }), fstatSync(fd)];
  return own.isFile() && named?.ino === own.ino && named.dev === own.dev;
}

/** The file is copied and emptied, not renamed: the process has it open, and so has a reader that follows it. */
function rotate(path: string, fd: number): void {
  // A directory that was removed meanwhile has nothing to keep.
  if (!isFile(path, fd)) return;
  try {
    copyFileSync(path, previousLog(path));
  } catch {
    // The bound comes first: half a copy on a full disk is none.
    rmSync(previousLog(path), { force: true });
  }
  truncateSync(path);
}
