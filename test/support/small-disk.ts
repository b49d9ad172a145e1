/** A small file system in memory, for tests of a disk that is full. Only root may mount one. */
import { execFileSync } from 'node:child_process';
import { afterAll } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

export interface SmallDisk {
  readonly place: string;
  readonly mounted: boolean;
  /** Makes it larger; whether that was done. */
  grow(megabytes: number): boolean;
  /** Follows the name of a test that is skipped without it. */
  readonly why: string;
}

/** It is there until the tests of the file have ended. */
export function mountSmallDisk(name: string, megabytes: number): SmallDisk {
  const place = temporaryDirectory(name);
  const mounted = process.getuid?.() === 0 && run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', place);
  if (mounted) afterAll(() => void run('umount', '-l', place));
  const grow = (size: number): boolean => run('mount', '-o', `remount,size=${size}m`, place);
  return { place, mounted, grow, why: mounted ? '' : ' (skipped: no small file system can be mounted here)' };
}

function run(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
