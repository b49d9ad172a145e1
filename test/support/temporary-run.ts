/** What a whole run has once: a directory for temporary files, which goes at its end, and a key for the servers of tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSigningKey } from './signing-key.ts';

export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'plat-tests-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = directory;
  writeSigningKey(directory);
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  // A run that is interrupted is not torn down.
  process.once('exit', remove);
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    process.off('exit', remove);
    remove();
  };
}
