/** Validation of paths in volumes. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';

export const isAbsolute = (path: string): boolean => path.startsWith('/');

export const hasBackstep = (path: string): boolean => path.includes('..') && path.split('/').includes('..');

export function noBacksteps(path: string, at: Path, errors: FieldErrors): void {
  if (hasBackstep(path)) errors.invalid(at, path, "must not contain '..'");
}

/** A relative path without `..`. */
export function descendingPath(path: string, at: Path, errors: FieldErrors): void {
  if (isAbsolute(path)) errors.invalid(at, path, 'must be a relative path');
  noBacksteps(path, at, errors);
}

/** The same, for files in volumes: names that begin with `..` are reserved for the node. */
export function volumeFilePath(path: string, at: Path, errors: FieldErrors): void {
  descendingPath(path, at, errors);
  if (path.startsWith('..') && !path.startsWith('../')) errors.invalid(at, path, "must not start with '..'");
}

/** Bits of a file mode. */
export function fileMode(mode: number | undefined, at: Path, field: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode > 0o777 || mode < 0))
    errors.invalid(at.child(field), mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
