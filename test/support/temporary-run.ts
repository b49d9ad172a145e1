/** What a whole run has once: a directory for temporary files, which goes at its end, the compiled modules, and a key for the servers of tests. */
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileModules } from './compiled-source.ts';
import { writeSigningKey } from './signing-key.ts';

const MEMORY = '/dev/shm';
/** Whoever has less of it in memory may need it for other things. */
const ENOUGH_BYTES = 8 * 2 ** 30;

/** In memory where programs may be started from there, so that stores of tests do not wait for a disk; what TMPDIR names goes first. */
function parent(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    accessSync(MEMORY, constants.W_OK);
    const options = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, directory]) => directory === MEMORY)?.[3];
    const { bavail, bsize } = statfsSync(MEMORY);
    if (options !== undefined && !options.split(',').includes('noexec') && bavail * bsize >= ENOUGH_BYTES) return MEMORY;
  } catch {
    // There is none.
  }
  return tmpdir();
}

/** Called for each project of a run; all share what the first call has made. */
export default async function setup(): Promise<() => void> {
  if (process.env.PLAT_TEST_RUN_DIRECTORY !== undefined) return () => {};
  const directory = mkdtempSync(join(parent(), 'plat-tests-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = directory;
  process.env.PLAT_TEST_RUN_DIRECTORY = directory;
  // Node parses its certificates at every start, before anything else, which takes longer than most programs of tests.
  delete process.env.NODE_EXTRA_CA_CERTS;
  writeSigningKey(directory);
  await compileModules();
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  // A run that is interrupted is not torn down.
  process.once('exit', remove);
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    delete process.env.PLAT_TEST_RUN_DIRECTORY;
    process.off('exit', remove);
    remove();
  };
}
