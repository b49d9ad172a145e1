import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory for a test; it is removed after the test file (test/support/temporary-file.ts). */
export const temporaryDirectory = (name: string): string => mkdtempSync(join(tmpdir(), `${name}-`));
