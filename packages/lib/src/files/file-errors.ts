/** Errors of the file system in plain words: what is wrong with which file. */
import { own } from '../own.ts';

const words: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no file or directory ${path}`,
  EACCES: (path) => `${path}: permission denied`,
  EPERM: (path) => `${path}: permission denied`,
  EISDIR: (path) => `${path} is a directory, not a file`,
  ENOTDIR: (path) => `${path}: a part of the path is a file, not a directory`,
  EROFS: (path) => `${path} is on a file system that is read-only`,
  ENOSPC: (path) => `no space is left on the disk of ${path}`,
};

/** The text of an error; undefined if it is not one of the file system. `path`: the file, if the error does not name it. */
export function fileErrorText(error: unknown, path?: string): string | undefined {
  const { code = '', path: named } = error as NodeJS.ErrnoException;
  const file = path ?? named;
  return file === undefined ? undefined : own(words, code)?.(file);
}
