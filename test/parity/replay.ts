/** Runs the recorded conversations against a server, and once more those that only the second of a write made differ. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';

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

/** `recordings` is the directory of the runner; the suites are beside it unless `from` names another. */
export const runAgainst =
  (address: string, recordings: string, from = recordings): Run =>
  async (suites, only) => {
    const file = join(temporaryDirectory('plat-parity'), 'report.json');
    const choice = ['--dir', from, '--suite', suites.join(','), ...(only === undefined ? [] : ['--case', only])];
    const child = spawn(process.execPath, [join(recordings, 'parity.mjs'), '--server', address, ...choice, '--verbose', '--json', file], {
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
    return { report: JSON.parse(readFileSync(file, 'utf8')) as Report, complaints: complaintsIn(said) };
  };

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

/**
 * Entries of managedFields stand by the second in which their writers last changed what they own, and those of one second by
 * name and subresource. Where the recorded writes fell into one second, the end of a second between two of ours rightly
 * changes the places of their entries. So `objects that start or stop matching a field selector` sets a pod's status and then
 * its labels: when the second ends between these, the entry for the status comes first. A case that differs in such places
 * and nowhere else is replayed again; an order that is wrong is wrong again.
 */
export async function replay(run: Run, suites: readonly string[], explained: (suite: string, name: string) => boolean): Promise<Replay> {
  const { report, complaints } = await run(suites);
  for (const [suite, cases] of Object.entries(report))
    for (const name of Object.keys(cases)) {
      const title = `${suite} · ${name}`;
      for (let left = AGAIN; left > 0 && !explained(suite, name) && onlyPlacesOfEntries(complaints.get(title)); left--) {
        const again = await run([suite], name);
        cases[name] = again.report[suite]?.[name] ?? 'fail';
        complaints.set(title, again.complaints.get(title) ?? '');
      }
    }
  return { report, complaints };
}

/** A place that differs is named on a line that is indented by four; what was wanted and what came, by six. */
function onlyPlacesOfEntries(complaint = ''): boolean {
  const places = complaint.split('\n').filter((line) => /^ {4}\S/.test(line));
  return places.length > 0 && places.every((place) => /\.managedFields\[\d+\]/.test(place));
}
