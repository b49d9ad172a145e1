/** The command line of plat, in the test's own process, pointed at a test's server. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramName } from '../../packages/cli/src/command.ts';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { type Clock, commandClock, FakeClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { parseExact } from '../../packages/schema/src/json/parse.ts';
import type { Loose, TestServer } from './server.ts';

export interface PlatResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
export interface Plat {
  /** Directory in which the commands run. */
  readonly cwd: string;
  /** Writes a file there; an object is written as JSON. Answers its name. */
  file(name: string, content: unknown): string;
  /** Runs a command line to its end; an object is given as its standard input. */
  run(args: readonly string[], input?: unknown): Promise<PlatResult>;
  /** Runs one that must succeed; answers what it printed. */
  ok(args: readonly string[], input?: unknown): Promise<string>;
  /** The same, read as JSON. */
  json(args: readonly string[], input?: unknown): Promise<Loose>;
  /** Runs one that waits: its time is up as soon as it watches the object, so that a busy machine does not decide what it saw. */
  timedOut(args: readonly string[], input?: unknown): Promise<PlatResult>;
  /** Starts one; its terminal tells what it has said so far. */
  start(args: readonly string[], input?: unknown): { io: TestIO; code: Promise<number> };
}

/** By server and caller. What a command learns about the server is kept there for the next one: half of the work of most commands. */
const homes = new WeakMap<TestServer, Map<string, string>>();
function homeOf(server: TestServer, caller: string): string {
  const known = homes.get(server) ?? new Map<string, string>();
  homes.set(server, known);
  const home = known.get(caller) ?? temporaryDirectory('plat-home');
  known.set(caller, home);
  return home;
}

/** `connection`: flags that lead to the server, unless as its administrator. `program`: the name that plat is called by. */
export function platFor(
  server: TestServer,
  env: Readonly<Record<string, string>> = {},
  connection: readonly string[] = ['--kubeconfig', server.running.adminConfigPath],
  program: ProgramName = 'plat',
): Plat {
  const cwd = temporaryDirectory('plat-cli');
  const home = homeOf(server, [program, ...connection].join(' '));
  const startBy = (clock: Clock, args: readonly string[], input: unknown) => {
    const text = input === undefined ? '' : typeof input === 'string' ? input : jsonText(input);
    // A connection whose server was verified at another time is another one.
    const connections = clock === commandClock ? server.connections : undefined;
    const io = testIO({ program, cwd, home, env, clock, connections, stdin: async () => text });
    // What follows two dashes is not for plat.
    const end = args.indexOf('--');
    const line = end === -1 ? [...args, ...connection] : [...args.slice(0, end), ...connection, ...args.slice(end)];
    return { io, code: run(line, io) };
  };
  const start = (args: readonly string[], input?: unknown) => startBy(commandClock, args, input);
  const finish = async (args: readonly string[], input?: unknown): Promise<PlatResult> => {
    const { io, code } = start(args, input);
    return { code: await code, stdout: io.stdout, stderr: io.stderr };
  };
  const ok = async (args: readonly string[], input?: unknown): Promise<string> => {
    const { code, stdout, stderr } = await finish(args, input);
    if (code !== 0) throw new Error(`plat ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    cwd,
    file(name, content) {
      const path = join(cwd, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : jsonText(content));
      return name;
    },
    run: finish,
    ok,
    async timedOut(args, input) {
      const clock = new FakeClock();
      const { io, code } = startBy(clock, [...args, '-v=6'], input);
      await Promise.race([io.said('watch=1'), code]);
      await clock.advance(86_400_000);
      const stderr = io.stderr.replace(/^[A-Z]+ https:.* milliseconds(?:: .*)?\n/gm, '');
      return { code: await code, stdout: io.stdout, stderr };
    },
    json: async (args, input) => parseExact(await ok([...args, '-o', 'json'], input)),
    start,
  };
}

/** The words of a line, as a shell reads them. */
export const shellWords = (line: string): string[] =>
  [...line.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string));
