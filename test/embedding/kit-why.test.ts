/** The example of docs/embedding.md about questions why prints what the page says. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { startTestServer } from '../../packages/testing/src/index.ts';
import { programDirectory } from '../support/program.ts';

const page = readFileSync(join(dirname(programDirectory), 'docs', 'embedding.md'), 'utf8');
const [, program = '', output = ''] = /^### Why\n\n((?: {4}.*\n|\n)+)It prints:\n\n((?: {4}.*\n|\n)+)/m.exec(page) ?? [];

test('the example prints what the page says', async () => {
  const lines: unknown[] = [];
  const AsyncFunction = (async () => {}).constructor as new (...texts: string[]) => (...values: unknown[]) => Promise<void>;
  const withoutImport = program.replace(/^ *import .*$/m, '');
  await new AsyncFunction('startTestServer', 'console', withoutImport)(startTestServer, { log: (value: unknown) => lines.push(value) });
  const printed = lines.map((value) => (typeof value === 'string' ? value : inspect(value))).join('\n');
  expect(`${printed}\n`).toBe(output.replace(/^ {4}/gm, '').trimEnd().concat('\n'));
});
