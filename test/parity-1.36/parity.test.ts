/** Replays conversations that were recorded with a stock server of 1.36. They are in test/recordings/parity-1.36.json.gz. */
import { expect, test } from 'vitest';
import { unpacked } from '../../packages/lib/src/testing/recordings.testing.ts';
import { areas, suitesOf } from '../parity/areas.ts';
import { asRecorded, Explanations, judge, suitesIn } from '../parity/judge.ts';
import { LONGEST_MS, loadRunner } from '../parity/replay.ts';

const recordings = unpacked('parity-1.36');
const present = suitesIn(recordings);
const explanations = new Explanations(import.meta.dirname);
const judgement = { runner: await loadRunner(), from: recordings, explanations };

const controllers = [...(asRecorded.controllers ?? []), 'validatingadmissionpolicy-status-controller'];
const as136 = { ...asRecorded, controllers, apiRelease: '1.36' } as const;

/** Suites by what they are about: those of 1.24, recorded anew, and those of what came later. */
const suites: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.keys(areas).map((area) => [area, suitesOf(area, present)])),
  'custom resources of later releases': ['r-crd-cel', 'r-crd-rules', 'r-crd-selectable'],
  'admission of later releases': [
    'r-policy-validating',
    'r-policy-mutating',
    'r-policy-objects',
    'r-policy-params',
    'r-webhook-conditions',
  ],
  'requests of later releases': ['r-discovery', 'r-identity', 'r-meta', 'r-watch-list'],
  'kinds of later releases': ['r-networking', 'r-pod-fields', 'r-pod-resources', 'r-resource', 'r-storage', 'r-workloads'],
};

/** Areas that are replayed over connections; the others are about objects, whatever brings them. */
const overConnections: ReadonlySet<string> = new Set(['reading', 'auth', 'requests of later releases']);

test.concurrent.each(Object.keys(suites))(
  '%s',
  (area) => judge(judgement, { ...as136, direct: !overConnections.has(area) }, suites[area] ?? []),
  LONGEST_MS + 10_000,
);

test('only cases that exist are listed, each with a sentence', () => explanations.expectSound([recordings]));

test('every recorded suite is replayed, once', () => {
  expect(Object.values(suites).flat().sort()).toEqual([...present].sort());
});
