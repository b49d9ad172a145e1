import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory for a test; it is removed when the test file has ended (test/support/temporary-file.ts). */
export const temporaryDirectory = (name: string): string => mkdtempSync(join(tmpdir(), `${name}-`));
