/** What the program was built from, as the program, /version and the stock client's pattern have it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { versionInfo } from '../../packages/server/src/endpoints/version.ts';
import { startChild } from '../support/child.ts';
import { finished, programDirectory, programMissing } from '../support/program.ts';

const root = join(programDirectory, '..');
const isCheckout = existsSync(join(root, '.git'));

test.skipIf(programMissing !== undefined || !isCheckout)('a build from a checkout names its commit', async () => {
  const { stdout } = await finished(startChild(process.execPath, [join(programDirectory, 'plat.js'), 'version', '--client', '-o', 'json']));
  const { gitCommit, gitTreeState, buildDate } = (JSON.parse(stdout) as { clientVersion: Record<string, string> }).clientVersion;
  // The program may be older than the last commit, but its commit is one of this repository.
  expect(gitCommit).toMatch(/^[0-9a-f]+$/);
  const seconds = execFileSync('git', ['-C', root, 'show', '-s', '--format=%ct', gitCommit as string], { encoding: 'utf8' });
  expect(Date.parse(buildDate as string)).toBe(Number(seconds) * 1000);
  expect(['clean', 'dirty']).toContain(gitTreeState);
});

test('/version shows it in the form of the stock server', () => {
  const from = { commit: 'c0ffee', treeState: 'clean', date: '2026-01-02T03:04:05Z' } as const;
  const info = versionInfo({ version: '0.1.0', release: '1.24', from });
  expect(info).toMatchObject({ gitCommit: 'c0ffee', gitTreeState: 'clean', buildDate: '2026-01-02T03:04:05Z' });
  expect(Object.keys(info).slice(0, 6)).toEqual(['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate']);
});
