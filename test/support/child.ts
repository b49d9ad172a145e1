/** Runs a TypeScript file in a process of its own, for tests that kill it or take away what it needs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { bundledPackages } from '../../scripts/workspaces.mjs';

/** Beside the dependencies, so that the bundle finds the native ones. */
const BUNDLES = join(import.meta.dirname, '../../node_modules/.cache/plat-test');

/** Bundles a file of the tests; answers the path of a program that Node can run. */
export async function bundleChild(file: string): Promise<string> {
  mkdirSync(BUNDLES, { recursive: true });
  const outfile = join(BUNDLES, `${basename(file, '.ts')}.mjs`);
  // Test files that run at the same time may bundle the same one: neither may run what the other has written in part.
  const own = `${outfile}.${process.pid}`;
  await build({
    entryPoints: [file],
    outfile: own,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [bundledPackages],
    logLevel: 'error',
  });
  renameSync(own, outfile);
  return outfile;
}

export interface Child {
  readonly process: ChildProcess;
  /** Whole lines that it printed so far. */
  readonly lines: string[];
  readonly errors: () => string;
  /** Resolves with the first line from now on that satisfies the condition; rejects when the process ends before. */
  line(wanted: (line: string) => boolean): Promise<string>;
  /** Resolves when it has ended and everything that it printed was read. */
  readonly ended: Promise<void>;
}

let state: string | undefined;
/**
 * Servers record themselves for later commands of the user: not among those of the person who runs the tests. Neither may commands keep
 * there what they learned about a server: another one of the tests may have its port, and has its certificates.
 */
function stateHome(): string {
  state ??= temporaryDirectory('plat-state');
  return state;
}

export function startChild(command: string, args: readonly string[]): Child {
  const env = { ...process.env, XDG_STATE_HOME: stateHome(), XDG_CACHE_HOME: temporaryDirectory('plat-cache') };
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  const lines: string[] = [];
  const waiting = new Set<{ wanted: (line: string) => boolean; resolve: (line: string) => void; reject: (error: Error) => void }>();
  let rest = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() as string;
    for (const line of parts) {
      lines.push(line);
      for (const waiter of waiting) {
        if (!waiter.wanted(line)) continue;
        waiting.delete(waiter);
        waiter.resolve(line);
      }
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      for (const { reject } of waiting) reject(new Error(`the process ended too early: ${errors}`));
      resolve();
    });
  });
  return {
    process: child,
    lines,
    errors: () => errors,
    line: (wanted) => new Promise((resolve, reject) => waiting.add({ wanted, resolve, reject })),
    ended,
  };
}
