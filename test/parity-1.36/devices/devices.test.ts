/** Conversations about claims and slices of devices, recorded with a stock server of 1.36. */
import { test } from 'vitest';
import { unpacked } from '../../../packages/lib/src/testing/recordings.testing.ts';
import { asRecorded, Explanations, judge } from '../../parity/judge.ts';
import { LONGEST_MS, loadRunner } from '../../parity/replay.ts';

const recordings = unpacked('parity-1.36');
const explanations = new Explanations(import.meta.dirname);

test(
  'classes, claims, templates and slices',
  async () =>
    judge({ runner: await loadRunner(), from: recordings, explanations }, { ...asRecorded, apiRelease: '1.36', direct: true }, [
      'r-resource',
    ]),
  LONGEST_MS + 10_000,
);

test('only cases that exist are listed, each with a sentence', () => explanations.expectSound([recordings]));
