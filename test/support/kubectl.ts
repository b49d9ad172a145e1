/**
 * The stock kubectl that this machine has, pointed at a test's server: the one that KUBECTL names, else that of the PATH, else Debian's
 * of 1.20, which `.ci/run` unpacks. Where there are two, vitest.config.ts runs test/kubectl with the older one as well.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Loose, startTestServer, type TestServer } from './server.ts';
import { oldKubectl } from './test-programs.ts';

interface FoundKubectl {
  readonly program: string;
  /** The minor number of its release: 24 for 1.24. */
  readonly minor: number;
}

function findKubectl(): FoundKubectl | undefined {
  for (const program of process.env.KUBECTL === undefined ? ['kubectl', oldKubectl] : [process.env.KUBECTL]) {
    try {
      const version = execFileSync(program, ['version', '--client', '-o', 'json'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return { program, minor: Number.parseInt(/"minor": "(\d+)/.exec(version)?.[1] ?? '', 10) };
    } catch {
      // There is none of this name.
    }
  }
  return undefined;
}
const foundKubectl = findKubectl();
export const kubectlProgram: string = foundKubectl?.program ?? 'kubectl';
export const kubectlMinor: number | undefined = foundKubectl?.minor;
export const kubectlMissing: string | undefined = foundKubectl === undefined ? 'there is no kubectl' : undefined;
/** Whether the kubectl is older than the release that brought what a test is about. Without any, tests are skipped for that reason. */
export const kubectlBefore = (minor: number): boolean => (kubectlMinor ?? minor) < minor;

/** The flag that shows managed fields; releases before it always do. */
export const showManagedFields: readonly string[] = kubectlBefore(21) ? [] : ['--show-managed-fields'];

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  /** Runs a command line to its end; an object is given as its standard input. */
  run(args: readonly string[], input?: unknown): Promise<KubectlResult>;
  /** Runs one that must succeed; answers what it printed. */
  ok(args: readonly string[], input?: unknown): Promise<string>;
  /** The same, read as JSON. */
  json(args: readonly string[]): Promise<Loose>;
  /** Starts one that goes on until it is killed; `line` resolves when a line was printed. */
  start(args: readonly string[]): { process: ChildProcess; line(wanted: RegExp): Promise<string> };
}

/** `env`: variables that kubectl heeds, such as `KUBE_EDITOR`. `program`: another kubectl. */
export function kubectlFor(server: TestServer, env: Readonly<Record<string, string>> = {}, program = kubectlProgram): Kubectl {
  const common = ['--kubeconfig', server.running.adminConfigPath, '--cache-dir', join(server.dataDir, 'kubectl-cache')];
  const begin = (args: readonly string[]): ChildProcess => {
    const child = spawn(program, [...common, ...args], {
      // Commands are short: not to collect garbage takes a third less processor time.
      env: { ...process.env, HOME: server.dataDir, TMPDIR: server.dataDir, GOGC: 'off', KUBECTL_EXTERNAL_DIFF: '', LC_ALL: 'C', ...env },
    });
    child.stdout?.setEncoding('utf8');
    child.stderr?.setEncoding('utf8');
    return child;
  };
  const run = (args: readonly string[], input?: unknown): Promise<KubectlResult> =>
    new Promise((resolve, reject) => {
      const child = begin(args);
      let stdout = '';
      let stderr = '';
      child.stdout?.on('data', (text: string) => {
        stdout += text;
      });
      child.stderr?.on('data', (text: string) => {
        stderr += text;
      });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout, stderr }));
      child.stdin?.end(input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input));
    });
  const ok = async (args: readonly string[], input?: unknown): Promise<string> => {
    const { code, stdout, stderr } = await run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    run,
    ok,
    json: async (args) => JSON.parse(await ok([...args, '-o', 'json'])),
    start(args) {
      const child = begin(args);
      let printed = '';
      const waiting = new Set<() => void>();
      child.stdout?.on('data', (text: string) => {
        printed += text;
        for (const check of waiting) check();
      });
      const line = (wanted: RegExp): Promise<string> =>
        new Promise((resolve, reject) => {
          const check = (): void => {
            const found = printed
              .split('\n')
              .slice(0, -1)
              .find((one) => wanted.test(one));
            if (found === undefined) return;
            waiting.delete(check);
            resolve(found);
          };
          waiting.add(check);
          child.on('close', () => reject(new Error(`kubectl ended before ${wanted} came: ${printed}`)));
          check();
        });
      return { process: child, line };
    },
  };
}

/** For a group of tests: a server that goes by stock names, a namespace in it, and kubectl; gone wrong is nothing at the end. */
export function kubectlFixture(program?: string) {
  const fixture = {} as { server: TestServer; kubectl: Kubectl; ns: string };
  beforeAll(async () => {
    fixture.server = await startTestServer({ identity: 'kubernetes' });
    fixture.kubectl = kubectlFor(fixture.server, {}, program);
    fixture.ns = await fixture.server.namespace();
  });
  afterAll(async () => {
    await fixture.server.close();
    expect(fixture.server.errors).toEqual([]);
  });
  return fixture;
}
