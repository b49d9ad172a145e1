/**
 * Replays conversations that were recorded with a stock server. They lie beside this repository, in ../shared/parity, where
 * CI has them too. Cases that fail are listed with a reason: in known.json what is still to be done, in deliberate.json what
 * is better on purpose. A listed case that passes fails the test, so that the lists shrink.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { startTestServer, type TestServerOptions } from '../support/server.ts';
import { required, suitesOf } from './areas.ts';

const directory = resolve(import.meta.dirname, '../../../shared/parity');
const runner = join(directory, 'parity.mjs');
const missing = existsSync(runner) ? '' : ' (skipped: the recorded conversations are not in ../shared/parity)';

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

type Report = Record<string, Record<string, 'pass' | 'wording' | 'fail'>>;
interface Replay {
  readonly report: Report;
  /** What the runner said of each case that failed, by suite and case. */
  readonly complaints: Map<string, string>;
}

const LONGEST_MS = 240_000;

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

async function replay(address: string, suites: readonly string[], from = directory): Promise<Replay> {
  const file = join(temporaryDirectory('plat-parity'), 'report.json');
  const child = spawn(process.execPath, [runner, '--server', address, '--dir', from, '--suite', suites.join(','), '--json', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  await new Promise((done) => child.on('close', done));
  clearTimeout(timer);
  if (!existsSync(file)) throw new Error(`the replay did not finish:\n${said.slice(-4000)}`);
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const complaints = new Map<string, string>();
  for (const part of said.split(/^✗ /m).slice(1)) {
    const [title = '', ...lines] = part.split('\n');
    complaints.set(title, lines.filter((line) => line.startsWith('    ')).join('\n'));
  }
  return { report, complaints };
}

function judge({ report, complaints }: Replay, suites: readonly string[]): void {
  const problems: string[] = [];
  for (const [suite, cases] of Object.entries(report))
    for (const [name, result] of Object.entries(cases)) {
      const reason = reasonFor(suite, name);
      if (result === 'fail' && reason === undefined) problems.push(`${suite} · ${name}\n${complaints.get(`${suite} · ${name}`) ?? ''}`);
      if (result !== 'fail' && reason !== undefined) problems.push(`${suite} · ${name} passes now: take it off the list`);
    }
  expect(problems.join('\n'), problems.join('\n')).toBe('');
  expect(Object.keys(report).sort()).toEqual([...suites].sort());
}

describe.skipIf(missing !== '')(`replayed conversations${missing}`, () => {
  const present = missing === '' ? readdirSync(join(directory, 'suites')).map((name) => name.replace(/\.mjs$/, '')) : [];

  // Most of the time is spent waiting; areas wait together, each on a server of its own.
  test.concurrent.each(required)(
    '%s',
    async (area) => {
      const server = await startTestServer(asRecorded);
      judge(await replay(server.address, suitesOf(area, present)).finally(() => server.close()), suitesOf(area, present));
    },
    LONGEST_MS + 10_000,
  );

  test.concurrent(
    'admission plug-ins that are off by default',
    async () => {
      const from = join(directory, 'extra');
      const admissionControlConfigFile = join(temporaryDirectory('plat-admission'), 'admission.json');
      writeFileSync(admissionControlConfigFile, JSON.stringify(pluginConfiguration));
      const server = await startTestServer({ ...asRecorded, enableAdmissionPlugins: morePlugins, admissionControlConfigFile });
      const suites = readdirSync(join(from, 'suites')).map((name) => name.replace(/\.mjs$/, ''));
      judge(await replay(server.address, suites, from).finally(() => server.close()), suites);
    },
    LONGEST_MS + 10_000,
  );

  test('only cases that exist are listed, each with a sentence', () => {
    for (const reasons of explained)
      for (const [suite, cases] of Object.entries(reasons)) {
        expect(present).toContain(suite);
        const recorded = Object.keys(JSON.parse(readFileSync(join(directory, 'recorded', `${suite}.json`), 'utf8')));
        for (const [name, reason] of Object.entries(cases)) {
          expect(recorded, suite).toContain(name);
          expect(reason, `${suite} · ${name}`).toMatch(/^[A-Z`].+\.$/s);
        }
      }
  });
});
