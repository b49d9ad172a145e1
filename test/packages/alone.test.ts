/**
 * The packages that others may use alone: packed, installed into a directory outside of this repository together with nothing but what
 * they depend on, and used there by the examples of `examples/packages`.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';
import { packages } from '../../scripts/workspaces.mjs';
import { type Child, startChild } from '../support/child.ts';
import { examplesFolder } from '../support/examples.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const packed = [...packages].filter(([, manifest]) => manifest.private !== true).map(([name]) => name);
/** Packed files by the name of the package. */
const files = new Map<string, string>();

/** A package of this repository or of others, with all that it depends on. */
function closure(names: Iterable<string>, all = new Set<string>()): Set<string> {
  for (const name of names) {
    if (all.has(name)) continue;
    all.add(name);
    const { dependencies = {} } = packages.get(name.replace('@plat-dev/', '')) ?? {};
    closure(Object.keys(dependencies), all);
  }
  return all;
}

interface Packed {
  readonly name: string;
  readonly filename: string;
}
async function pack(directory: string, ...args: string[]): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', directory, ...args], { cwd: root });
  for (const { name, filename } of JSON.parse(stdout) as Packed[]) files.set(name, join(directory, filename));
}

const chromium = (process.env.PATH ?? '')
  .split(delimiter)
  .map((directory) => join(directory, 'chromium'))
  .find((file) => existsSync(file));

/** The example as a project of its own, in which its dependencies are installed, and which is compiled. */
async function installed(example: string): Promise<string> {
  const project = temporaryDirectory(`plat-alone-${example}`);
  cpSync(join(examplesFolder, 'packages', example), project, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { dependencies: object };
  const needed = [...closure(Object.keys(dependencies))].map((name) => files.get(name) ?? `${name} is not packed`);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--no-save', ...needed], { cwd: project });
  const types = ['--typeRoots', join(root, 'node_modules', '@types')];
  const tsc = (...args: string[]) => run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.', ...types, ...args], { cwd: project });
  await tsc();
  await tsc('--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler');
  return project;
}
async function ended(child: Child): Promise<void> {
  child.process.kill();
  await child.ended;
}
const expected = (project: string): string => readFileSync(join(project, 'output.txt'), 'utf8');

beforeAll(async () => {
  const directory = temporaryDirectory('plat-packed-alone');
  await run(process.execPath, [join(root, 'scripts', 'build-packages.mjs')]);
  await pack(directory, ...packed.flatMap((name) => ['-w', `packages/${name}`]));
  const others = [...closure(packed.map((name) => `@plat-dev/${name}`))].filter((name) => !files.has(name));
  await pack(directory, ...others.map((name) => `./node_modules/${name}`));
}, 600_000);

test.each([
  ['a manifest is defaulted and checked offline', 'kinds'],
  ['CEL is evaluated within a budget', 'cel'],
  ['objects are merged three ways, and fields have owners', 'patch'],
])('%s: %s alone', async (_what, example) => {
  const project = await installed(example);
  const { stdout } = await run(process.execPath, ['built/main.js'], { cwd: project });
  expect(stdout).toBe(expected(project));
});

describe('a typed client with informers: client alone', () => {
  let server: TestServer;
  let project: string;
  let page: string;
  let config: string;
  const lines = async (): Promise<string | undefined> => (await server.client().core.v1.configmaps('default').find('seen'))?.data?.lines;

  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', listen: true });
    project = await installed('client');
    config = join(project, 'kubeconfig');
    writeFileSync(config, server.kubeconfigText());
    const bundle = await rolldown({ cwd: project, input: 'built/browser.js', platform: 'browser' });
    const { output } = await bundle.generate({ format: 'es' });
    await bundle.close();
    expect([output.length, ...output[0].imports, ...output[0].dynamicImports]).toEqual([1]);
    page = output[0].code;
    writeFileSync(join(project, 'built', 'browser.js'), page);
  }, 300_000);
  afterAll(() => server.close());

  /** The page's own server, until it is ended. */
  async function servePage(): Promise<{ address: string; end(): Promise<void> }> {
    const child = startChild(process.execPath, [join(project, 'built', 'serve.js'), config]);
    const address = await child.line((line) => line.startsWith('http:'));
    return { address, end: () => ended(child) };
  }

  test('in Node, with a configuration file', async () => {
    const { stdout } = await run(process.execPath, ['built/node.js', config], { cwd: project });
    expect(stdout).toBe(expected(project));
  });

  test('where there are only the globals of the web', async () => {
    const served = await servePage();
    const { AbortController, AbortSignal, TextDecoder, TextEncoder, URL, clearTimeout, fetch, performance, setTimeout } = globalThis;
    const web = { AbortController, AbortSignal, TextDecoder, TextEncoder, URL, clearTimeout, fetch, performance, setTimeout };
    const timers = { setTimeout: (call: () => void, millis: number) => Number(setTimeout(call, millis)) };
    const location = { origin: new URL(served.address).origin };
    // A script has no `await` at its top, but it may have it within a function.
    const done = runInNewContext(`(async () => { ${page} })()`, { ...web, ...timers, location }) as Promise<void>;
    await done;
    expect(`${await lines()}\n`).toBe(expected(project));
    await served.end();
  });

  test.skipIf(chromium === undefined)('in a browser', async () => {
    await server.client().core.v1.configmaps('default').delete('seen');
    const served = await servePage();
    const profile = join(project, 'profile');
    mkdirSync(profile);
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, '--remote-debugging-port=0'];
    const browser = startChild(chromium as string, [...flags, served.address]);
    await expect.poll(lines).toBeDefined();
    expect(`${await lines()}\n`).toBe(expected(project));
    await ended(browser);
    await served.end();
  });
});
