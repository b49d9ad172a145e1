/** Replays conversations that were recorded with a stock server of 1.24. They are in test/recordings/parity.json.gz. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unpacked } from '../../packages/lib/src/testing/recordings.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { required, suitesOf } from './areas.ts';
import { asRecorded, Explanations, judge, suitesIn } from './judge.ts';
import { LONGEST_MS, loadRunner } from './replay.ts';

const recordings = unpacked('parity');
const extra = join(recordings, 'extra');
const present = suitesIn(recordings);
const explanations = new Explanations(import.meta.dirname);
const judgement = { runner: await loadRunner(recordings), from: recordings, explanations };

const morePlugins = [
  'AlwaysPullImages',
  'LimitPodHardAntiAffinityTopology',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'NamespaceAutoProvision',
  'EventRateLimit',
  'SecurityContextDeny',
  'ExtendedResourceToleration',
  'DefaultTolerationSeconds',
];
const pluginConfiguration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    { name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'zone=default' } } },
    {
      name: 'EventRateLimit',
      configuration: {
        apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
        kind: 'Configuration',
        limits: [{ type: 'Namespace', qps: 1, burst: 5, cacheSize: 100 }],
      },
    },
  ],
};

/** Areas that are replayed over connections; the others are about objects, whatever brings them. */
const overConnections: ReadonlySet<string> = new Set(['reading', 'auth']);

// Most of the time is spent waiting; areas wait together, each on a server of its own.
test.concurrent.each(required)(
  '%s',
  (area) => judge(judgement, { ...asRecorded, direct: !overConnections.has(area) }, suitesOf(area, present)),
  LONGEST_MS + 10_000,
);

test.concurrent(
  'admission plug-ins that are off by default',
  () => {
    const admissionControlConfigFile = join(temporaryDirectory('plat-admission'), 'admission.json');
    writeFileSync(admissionControlConfigFile, JSON.stringify(pluginConfiguration));
    const options = { ...asRecorded, enableAdmissionPlugins: morePlugins, admissionControlConfigFile };
    return judge({ ...judgement, from: extra }, options, suitesIn(extra));
  },
  LONGEST_MS + 10_000,
);

test('only cases that exist are listed, each with a sentence', () => explanations.expectSound([recordings, extra]));

test('every recorded suite is replayed, once', () => {
  expect(required.flatMap((area) => suitesOf(area, present)).sort()).toEqual([...present].sort());
});
