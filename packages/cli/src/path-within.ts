/** Whether a path is a directory, or leads to something in it. Both are complete, without links. */
import nodePath from 'node:path';

/** `paths`: how paths of the platform are read. */
export function isWithin(
  path: string,
  directory: string,
  paths: Pick<typeof nodePath, 'relative' | 'isAbsolute' | 'sep'> = nodePath,
): boolean {
  const way = paths.relative(directory, path);
  // Between two drives of Windows there is no relative way.
  return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way);
}
