/** Compiles `shim.c` for this machine, where that is possible. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(process.cwd(), 'test/faults/disk/shim.c');

/** The path of the library, or why there is none. */
export function buildShim(directory: string): { readonly path?: string; readonly missing?: string } {
  if (process.platform !== 'linux') return { missing: 'disk calls are recorded on Linux only' };
  const path = join(directory, 'shim.so');
  try {
    mkdirSync(directory, { recursive: true });
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl'], { stdio: 'pipe' });
    return { path };
  } catch (error) {
    return { missing: `there is no C compiler here, or it failed: ${(error as Error).message.split('\n')[0]}` };
  }
}

export interface DiskPlan {
  readonly directory: string;
  readonly log?: string;
  readonly killAt?: { readonly count: number; readonly file: string; readonly half: boolean };
}

/** Environment of a process whose disk calls are recorded, and which may be killed at one of them. */
export function shimEnvironment(library: string, plan: DiskPlan): Record<string, string> {
  const { directory, log, killAt } = plan;
  return {
    LD_PRELOAD: library,
    PLAT_DISK_DIR: directory,
    // Calls that do not go through the C library would not be seen.
    UV_USE_IO_URING: '0',
    ...(log !== undefined && { PLAT_DISK_LOG: log }),
    ...(killAt !== undefined && { PLAT_DISK_KILL: `${killAt.count}:${killAt.file}:${killAt.half ? 1 : 0}` }),
  };
}
