/**
 * Judges the replay of recorded suites. Cases that fail are listed with a reason: in known.json what is still to be done, in
 * deliberate.json what is better on purpose. A listed case that passes fails the test, so that the lists shrink.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { type Run, type Runner, replay, runAgainst, stillClock } from './replay.ts';

export const suitesIn = (directory: string): string[] => readdirSync(join(directory, 'suites')).map((name) => name.replace(/\.mjs$/, ''));

/** The servers that were recorded ran with these. */
export const asRecorded: TestServerOptions = {
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

/** Suite → case → why it differs. */
type Reasons = Record<string, Record<string, string>>;

export class Explanations {
  private readonly lists: readonly Reasons[];

  /** `directory` has known.json and deliberate.json. */
  constructor(directory: string) {
    this.lists = ['known.json', 'deliberate.json'].map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Reasons);
  }
  reasonFor(suite: string, name: string): string | undefined {
    for (const reasons of this.lists) if (reasons[suite]?.[name] !== undefined) return reasons[suite][name];
    return undefined;
  }
  /** Only cases that exist are listed, each with a sentence. `places`: directories with recordings. */
  expectSound(places: readonly string[]): void {
    for (const reasons of this.lists)
      for (const [suite, cases] of Object.entries(reasons)) {
        for (const [name, reason] of Object.entries(cases)) expect(reason, `${suite} · ${name}`).toMatch(/^[A-Z`].+\.$/s);
        if (suite === '*') continue;
        const file = places.map((place) => join(place, 'recorded', `${suite}.json`)).find(existsSync);
        expect(file, `${suite} is recorded`).toBeDefined();
        const recorded = Object.keys(JSON.parse(readFileSync(file as string, 'utf8')));
        for (const name of Object.keys(cases)) expect(recorded, suite).toContain(name);
      }
  }
}

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

/** Enough of what the runner said to see what is wrong. */
const shortened = (complaint = ''): string => complaint.split('\n').slice(0, 9).join('\n');

export interface Judgement {
  readonly runner: Runner;
  /** The directory of the suites and of what was recorded. */
  readonly from: string;
  readonly explanations: Explanations;
}

/** Replays suites on a server of their own, and fails for each difference that is not explained. */
export async function judge(
  { runner, from, explanations }: Judgement,
  options: TestServerOptions,
  suites: readonly string[],
): Promise<void> {
  const server = await startTestServer(options);
  const isExplained = (suite: string, name: string): boolean => explanations.reasonFor(suite, name) !== undefined;
  let still: Promise<TestServer> | undefined;
  const again: Run = async (...what) => {
    still ??= startTestServer({ ...options, clock: stillClock() });
    return runAgainst(await still, runner, from)(...what);
  };
  const { report, complaints } = await replay(runAgainst(server, runner, from), suites, isExplained, again).finally(() =>
    Promise.all([server.close(), still?.then((other) => other.close())]),
  );
  const problems: string[] = [];
  for (const [suite, cases] of Object.entries(report))
    for (const [name, result] of Object.entries(cases)) {
      const reason = explanations.reasonFor(suite, name);
      if (result === 'fail' && reason === undefined && !isByRule(complaints.get(`${suite} · ${name}`)))
        problems.push(`${suite} · ${name}\n${shortened(complaints.get(`${suite} · ${name}`))}`);
      if (result !== 'fail' && reason !== undefined) problems.push(`${suite} · ${name} passes now: take it off the list`);
    }
  expect(problems.join('\n'), problems.join('\n')).toBe('');
  expect(Object.keys(report).sort()).toEqual([...suites].sort());
}
