/**
 * Replays conversations that were recorded with a stock server. They are in
 * test/recordings/parity.json.gz. Cases that fail are listed with a reason: in known.json what is still to be done, in deliberate.json what
 * is better on purpose. A listed case that passes fails the test, so that the lists shrink.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unpacked } from '../../packages/lib/src/testing/recordings.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { required, suitesOf } from './areas.ts';
import { LONGEST_MS, loadRunner, type Run, replay, runAgainst, stillClock } from './replay.ts';

const recordings = unpacked('parity');
const runner = await loadRunner(recordings);
const suitesIn = (directory: string): string[] => readdirSync(join(directory, 'suites')).map((name) => name.replace(/\.mjs$/, ''));
const present = suitesIn(recordings);

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

/** Suite → case → why it differs. */
type Reasons = Record<string, Record<string, string>>;
const read = (name: string): Reasons => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as Reasons;
const explained: readonly Reasons[] = [read('known.json'), read('deliberate.json')];
const reasonFor = (suite: string, name: string): string | undefined => {
  for (const reasons of explained) if (reasons[suite]?.[name] !== undefined) return reasons[suite][name];
  return undefined;
};

/**
 * The one rule under `*`: an answer that was recorded as 500 and is 4xx here, because the fault is the caller's. Nothing else
 * of the case may differ.
 */
function isByRule(complaint = ''): boolean {
  const places = [...complaint.matchAll(/^ {4}\[(\d+)\](\S*)\n {6}want (.*)\n {6}got {2}(.*)$/gm)];
  const better = new Set(
    places.filter(([, , path, want, got]) => path === '.status' && want === '500' && /^4\d\d$/.test(got ?? '')).map(([, step]) => step),
  );
  const lines = complaint.split('\n').filter((line) => /^ {4}\S/.test(line));
  return better.size > 0 && lines.every((line) => better.has(/^ {4}\[(\d+)\]/.exec(line)?.[1]));
}

/** The server that was recorded ran with these. */
const asRecorded: TestServerOptions = {
  identity: 'kubernetes',
  enableBootstrapTokenAuth: true,
  allowPrivileged: true,
  serviceClusterIpRange: ['10.0.0.0/24'],
  controllers: [
    'namespace',
    'garbagecollector',
    'serviceaccount',
    'serviceaccount-token',
    'csrsigning',
    'csrapproving',
    'csrcleaner',
    'resourcequota',
    'bootstrapsigner',
    'tokencleaner',
    'root-ca-cert-publisher',
    'clusterrole-aggregation',
    'pvc-protection',
    'pv-protection',
  ],
};

/** Enough of what the runner said to see what is wrong. */
const shortened = (complaint = ''): string => complaint.split('\n').slice(0, 9).join('\n');

/** Areas that are replayed over connections; the others are about objects, whatever brings them. */
const overConnections: ReadonlySet<string> = new Set(['reading', 'auth']);

async function judge(options: TestServerOptions, suites: readonly string[], from?: string): Promise<void> {
  const server = await startTestServer(options);
  const isExplained = (suite: string, name: string): boolean => reasonFor(suite, name) !== undefined;
  let still: Promise<TestServer> | undefined;
  const again: Run = async (...what) => {
    still ??= startTestServer({ ...options, clock: stillClock() });
    return runAgainst(await still, recordings, runner, from)(...what);
  };
  const { report, complaints } = await replay(runAgainst(server, recordings, runner, from), suites, isExplained, again).finally(() =>
    Promise.all([server.close(), still?.then((other) => other.close())]),
  );
  const problems: string[] = [];
  for (const [suite, cases] of Object.entries(report))
    for (const [name, result] of Object.entries(cases)) {
      const reason = reasonFor(suite, name);
      if (result === 'fail' && reason === undefined && !isByRule(complaints.get(`${suite} · ${name}`)))
        problems.push(`${suite} · ${name}\n${shortened(complaints.get(`${suite} · ${name}`))}`);
      if (result !== 'fail' && reason !== undefined) problems.push(`${suite} · ${name} passes now: take it off the list`);
    }
  expect(problems.join('\n'), problems.join('\n')).toBe('');
  expect(Object.keys(report).sort()).toEqual([...suites].sort());
}

// Most of the time is spent waiting; areas wait together, each on a server of its own.
test.concurrent.each(required)(
  '%s',
  (area) => judge({ ...asRecorded, direct: !overConnections.has(area) }, suitesOf(area, present)),
  LONGEST_MS + 10_000,
);

test.concurrent(
  'admission plug-ins that are off by default',
  () => {
    const from = join(recordings, 'extra');
    const admissionControlConfigFile = join(temporaryDirectory('plat-admission'), 'admission.json');
    writeFileSync(admissionControlConfigFile, JSON.stringify(pluginConfiguration));
    return judge({ ...asRecorded, enableAdmissionPlugins: morePlugins, admissionControlConfigFile }, suitesIn(from), from);
  },
  LONGEST_MS + 10_000,
);

test('only cases that exist are listed, each with a sentence', () => {
  for (const reasons of explained)
    for (const [suite, cases] of Object.entries(reasons)) {
      for (const [name, reason] of Object.entries(cases)) expect(reason, `${suite} · ${name}`).toMatch(/^[A-Z`].+\.$/s);
      if (suite === '*') continue;
      const from = present.includes(suite) ? recordings : join(recordings, 'extra');
      const recorded = Object.keys(JSON.parse(readFileSync(join(from, 'recorded', `${suite}.json`), 'utf8')));
      for (const name of Object.keys(cases)) expect(recorded, suite).toContain(name);
    }
});

test('every recorded suite is replayed, once', () => {
  expect(required.flatMap((area) => suitesOf(area, present)).sort()).toEqual([...present].sort());
});
