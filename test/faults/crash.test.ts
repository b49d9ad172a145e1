/**
 * The program on the embedded store, killed at random points and at chosen disk calls under load, and with what was not synced
 * taken away. The long form is `node bench/crash.mjs`.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programDirectory, programMissing } from '../support/program.ts';
import { provideSigningKey } from '../support/signing-key.ts';
import { type CrashOptions, runCrashes } from './crash/run.ts';
import { buildShim } from './disk/shim.ts';

const { path: shim, missing } = buildShim(temporaryDirectory('plat-shim'));
const because = (reason: string | undefined) => (reason === undefined ? '' : ` (skipped: ${reason})`);
const withoutShim = programMissing ?? missing;

/** A server that does not get ready is a fault, which takes longer to be found than other tests may take. */
const timeout = 300_000;

function crash(changes: Partial<CrashOptions>) {
  console.log(`TEST_SEED=${testSeed}`);
  const program = join(programDirectory, 'plat.js');
  const directory = temporaryDirectory('plat-crash');
  // It takes longer to make than a start, and is none of the store's.
  provideSigningKey(join(directory, 'data'));
  // Writes and kills end a run, and writes bring a kill; the times are for one that gets nowhere, on a busy machine as well.
  const bounds = { kills: rounds(3), writes: rounds(320), seconds: 150, writers: 16, loadMs: 60_000, loadWrites: 150, eventTtlMs: 1_000 };
  return runCrashes({ seed: testSeed, ...bounds, shim, directory, program, ...changes });
}

test.skipIf(programMissing !== undefined)(`nothing acknowledged is lost by kills${because(programMissing)}`, { timeout }, async () => {
  const figures = await crash({});
  expect(figures.faults).toEqual([]);
  expect(figures.acknowledgedWrites).toBeGreaterThan(50);
  expect(figures.checks).toBeGreaterThan(1);
});

test.skipIf(withoutShim !== undefined)(`nothing acknowledged is lost by power losses${because(withoutShim)}`, { timeout }, async () => {
  const figures = await crash({ powerLoss: true });
  expect(figures.faults).toEqual([]);
  expect(figures.acknowledgedWrites).toBeGreaterThan(50);
  expect(figures.diskCalls).toBeGreaterThan(100);
});

test.skipIf(withoutShim !== undefined)(`a disk that does not sync is found out${because(withoutShim)}`, { timeout }, async () => {
  const figures = await crash({ powerLoss: true, lying: true, kills: 4 });
  expect(figures.faults).not.toEqual([]);
});
