/**
 * What a test file, and whatever program it starts, puts among the system's temporary files lies in one directory, which goes
 * when the file has ended, passed or failed. So a test need not remove what it made, unless it makes much.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Not what the file before left: hooks of a file whose tests are all skipped do not run.
const ofTheRun = process.env.PLAT_TEST_RUN_DIRECTORY ?? tmpdir();
const directory = mkdtempSync(join(ofTheRun, 'file-'));
process.env.TMPDIR = directory;
// The hook that was registered first runs last, after those of the file.
afterAll(() => {
  process.env.TMPDIR = ofTheRun;
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
