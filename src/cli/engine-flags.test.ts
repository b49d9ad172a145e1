import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { flagsOf } from './engine-flags.ts';

test('flags are set in the release of Node that they were measured with, and in no other', () => {
  expect(flagsOf('20.20.2').length).toBeGreaterThan(0);
  expect(flagsOf('22.1.0')).toEqual([]);
  expect(flagsOf('200.0.0')).toEqual([]);
});

test('the engine knows its flags', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const flag of flagsOf(process.versions.node)) expect(known).toContain(`${flag.split('=')[0]} (`);
});
