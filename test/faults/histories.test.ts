/** Three servers on three members of etcd while members and servers fail. The long form is `node bench/histories.mjs`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { etcdMissing } from '../support/etcd.ts';
import { programDirectory, programMissing } from '../support/program.ts';
import { runHistories } from './histories/run.ts';

const missing = etcdMissing ?? programMissing ?? (existsSync('/proc/net/tcp') ? undefined : 'partitions need /proc/net/tcp');
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

/** Kinds of faults that a run has. */
const FAULTS = 5;

test.skipIf(missing !== undefined)(`histories hold while members and servers fail${because}`, { timeout: 180_000 }, async () => {
  console.log(`TEST_SEED=${testSeed}`);
  const figures = await runHistories({
    seed: testSeed,
    // Faults end it, each of another kind; the time is for one that gets nowhere.
    faults: FAULTS,
    // Few operations at a time show as much as many; the long form has more.
    pauseMs: 100,
    seconds: 150,
    directory: temporaryDirectory('plat-histories'),
    program: join(programDirectory, 'plat.js'),
    clock: join(import.meta.dirname, 'histories/clock.cjs'),
  });
  expect(figures.violations).toEqual([]);
  expect(Object.keys(figures.faults)).toHaveLength(FAULTS);
  expect(figures.acknowledgedWrites).toBeGreaterThan(20);
  expect(figures.watchEvents).toBeGreaterThan(20);
});
