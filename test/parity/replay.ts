/** Runs the recorded conversations against a server, and once more those that only the second of a write made differ. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { unpacked } from '../../packages/lib/src/testing/recordings.testing.ts';
import { issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import type { TestServer } from '../support/server.ts';
import { type DirectLibrary, directLibrary } from './direct-library.ts';

/** So long that only a replay that hangs is ended, on a busy machine as well. */
export const LONGEST_MS = 900_000;

type Report = Record<string, Record<string, 'pass' | 'wording' | 'fail'>>;
export interface Replay {
  readonly report: Report;
  /** What the runner said of each case that failed, by suite and case. */
  readonly complaints: Map<string, string>;
}

/** Replays suites, or one case of one of them. */
export type Run = (suites: readonly string[], only?: string) => Promise<Replay>;

/** Replays with the arguments of the runner; `say` gets what it prints, and `direct` its requests, where they need no connection. */
export type Runner = (argv: readonly string[], say: (text: string) => void, direct?: DirectLibrary) => Promise<Report>;

/** `from` is the directory of the suites. */
export const runAgainst =
  ({ address, direct }: Pick<TestServer, 'address' | 'direct'>, runner: Runner, from: string): Run =>
  async (suites, only) => {
    const choice = ['--dir', from, '--suite', suites.join(','), ...(only === undefined ? [] : ['--case', only])];
    const said: string[] = [];
    const library = direct && directLibrary(direct);
    const report = await runner(['--server', address, ...choice, '--verbose'], (text) => void said.push(`${text}\n`), library);
    return { report, complaints: complaintsIn(said.join('')) };
  };

/**
 * The recorded runner is a program. Here it is a function of this process: a process for each area would take three times the
 * processor time, most of it to start and to compile. What it sends and what it compares stays as it is, but that namespaces are not
 * deleted after their case, since the server ends soon: that took as long as the cases, and has cases of its own. It gets its
 * arguments and a certificate for webhooks, which it would make with a program of its own, and ends with its report.
 */
export async function loadRunner(recordings = unpacked('parity')): Promise<Runner> {
  const program = readFileSync(join(recordings, 'parity.mjs'), 'utf8');
  const lastImport = "import http from 'node:http';\n";
  const [imports, body] = parted(program, lastImport);
  const changes: readonly (readonly [from: string, to: string])[] = [
    ['process.argv', 'argv'],
    ['console.log(', 'say('],
    ['process.exit(!record && failed ? 1 : 0);', 'agent.destroy();\nreturn report;'],
    ['let tls;\n', ''],
    ["const lib = server.startsWith('https') ? https : http;", "const lib = direct ?? (server.startsWith('https') ? https : http);"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a line of the runner.
    ["    if (vars.ns) leaving.push(send('DELETE', `/api/v1/namespaces/${vars.ns}`).catch(() => {}));\n", ''],
    ['rejectUnauthorized: false })', 'rejectUnauthorized: false, secureContext })'],
    // What is replaced in texts is not in short ones, of which most answers consist.
    ['    s = s.replace(UUID', '    if (s.length > 19) s = s.replace(UUID'],
    ['    for (const [k, x] of Object.entries(vars)) if', '    if (s.length > 3) for (const [k, x] of Object.entries(vars)) if'],
    ['    s = s.replace(/\\b(Too large', '    if (s.length > 19) s = s.replace(/\\b(Too large'],
  ];
  const changed = changes.reduce((text, [from, to]) => parted(text, from).join(to), body as string);
  const file = join(recordings, 'parity-function.mjs');
  const head = `${imports}${lastImport}import { createSecureContext } from 'node:tls';\nconst secureContext = createSecureContext();\n`;
  writeFileSync(file, `${head}export const runnerWith = (tls) => async (argv, say, direct) => {\n${changed}};\n`);
  const { runnerWith } = (await import(pathToFileURL(file).href)) as { runnerWith(tls: object): Runner };
  return runnerWith(webhookCertificate());
}

/** The parts of a text between something that must occur in it. */
function parted(text: string, at: string): string[] {
  const parts = text.split(at);
  if (parts.length < 2) throw new Error(`parity.mjs has no ${JSON.stringify(at)}: replay.ts has to follow its changes`);
  return parts;
}

function webhookCertificate(): { key: string; cert: string; ca: string } {
  const now = Date.now();
  const authority = newAuthority('parity-ca', now);
  const names = { commonName: '127.0.0.1', addresses: ['127.0.0.1'], dns: ['localhost'] };
  const { certificate, key } = issueServing(readAuthority(authority), names, now);
  return { key, cert: certificate, ca: Buffer.from(authority.certificate).toString('base64') };
}

/** A failed case begins with ✗, one whose wording differs with ~; what is indented belongs to it. */
function complaintsIn(said: string): Map<string, string> {
  const complaints = new Map<string, string>();
  for (const part of said.split(/^(?=[✗~] )/m)) {
    if (!part.startsWith('✗ ')) continue;
    const [title = '', ...lines] = part.slice(2).split('\n');
    complaints.set(title, lines.filter((line) => line.startsWith('    ')).join('\n'));
  }
  return complaints;
}

/** How often a case is replayed again that an end of a second may have come between. */
export const AGAIN = 10;

/** A clock that runs but always says the same time: all writes fall into one second, however busy the machine is. */
export const stillClock = (): Clock => {
  const now = systemClock.now();
  return { ...systemClock, now: () => now };
};

/**
 * Entries of managedFields stand by the second in which their writers last changed what they own, and those of one second by
 * name and subresource. Where the recorded writes fell into one second, the end of a second between two of ours rightly
 * changes the places of their entries. So `objects that start or stop matching a field selector` sets a pod's status and then
 * its labels: when the second ends between these, the entry for the status comes first. A case that differs in such places
 * and nowhere else is replayed again, by `again`, against a server with a still clock; an order that is wrong is wrong again.
 */
export async function replay(
  run: Run,
  suites: readonly string[],
  explained: (suite: string, name: string) => boolean,
  again: Run = run,
): Promise<Replay> {
  const { report, complaints } = await run(suites);
  for (const [suite, cases] of Object.entries(report))
    for (const name of Object.keys(cases)) {
      const title = `${suite} · ${name}`;
      for (let left = AGAIN; left > 0 && !explained(suite, name) && onlyPlacesOfEntries(complaints.get(title)); left--) {
        const next = await again([suite], name);
        cases[name] = next.report[suite]?.[name] ?? 'fail';
        complaints.set(title, next.complaints.get(title) ?? '');
      }
    }
  return { report, complaints };
}

/** A place that differs is named on a line that is indented by four; what was wanted and what came, by six. */
function onlyPlacesOfEntries(complaint = ''): boolean {
  const places = complaint.split('\n').filter((line) => /^ {4}\S/.test(line));
  return places.length > 0 && places.every((place) => /\.managedFields\[\d+\]/.test(place));
}
