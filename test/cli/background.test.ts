/**
 * `plat up`, `plat list` and `plat down`, as scripts use them. The servers are the built program; the commands are it where a test says
 * so (`built`), which shows that they work there, and else run in this process, which takes a tenth of the time.
 */

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { processOf } from '../../packages/cli/src/background/process.ts';
import { upCommand } from '../../packages/cli/src/background/up.ts';
import { commands, run } from '../../packages/cli/src/index.ts';
import { builtProgram } from '../../packages/cli/src/own-program.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import type { Loose } from '../support/client.ts';
import { programDirectory, programMissing } from '../support/program.ts';
import { provideSigningKey } from '../support/signing-key.ts';

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe.skipIf(programMissing !== undefined)('background servers', () => {
  let home: string;
  let env: NodeJS.ProcessEnv;
  const program = join(programDirectory, 'plat.js');
  const up = upCommand(() => builtProgram(process.execPath, program));
  const table = commands.map((entry) => (entry.name === 'up' ? { ...entry, load: async () => up } : entry));
  const plat = async (...args: string[]): Promise<Result> => {
    const io = testIO({ env, cwd: home, home });
    return { code: await run(args, io, table), stdout: io.stdout, stderr: io.stderr };
  };
  const built = (...args: string[]): Promise<Result> =>
    new Promise((resolve) => {
      execFile(process.execPath, [program, ...args], { env, cwd: home }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr }),
      );
    });
  const successful =
    (how: typeof plat) =>
    async (...args: string[]): Promise<string> => {
      const result = await how(...args);
      expect(result, args.join(' ')).toMatchObject({ code: 0 });
      return result.stdout;
    };
  const [ok, builtOk] = [successful(plat), successful(built)];
  const listed = async (): Promise<Loose[]> => JSON.parse(await ok('list', '-o', 'json'));
  const config = (): Loose => parse(readFileSync(join(home, '.kube', 'config'), 'utf8'));
  const state = (...path: string[]): string => join(home, 'state', 'plat', 'servers', ...path);
  /** A server that makes its own key is the first one. */
  const withKey = (name: string): void => provideSigningKey(state(name, 'data'));
  const alive = (pid: number): boolean => processOf(pid) !== undefined;

  beforeEach(() => {
    home = temporaryDirectory('plat-background');
    env = {
      ...process.env,
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CACHE_HOME: join(home, 'cache'),
      KUBECONFIG: '',
      PLATCONFIG: '',
    };
  });
  afterEach(async () => {
    await plat('down', '--all');
  });

  test('a server is started, listed, used and removed', async () => {
    const text = await builtOk('up', 'one', '--identity', 'kubernetes', '--store', 'memory', '--wait');
    const address = /^one is running at (https:\/\/127\.0\.0\.1:\d+) {2}identity kubernetes {2}store memory$/m.exec(text)?.[1];
    expect(address).toBeDefined();
    const [record] = JSON.parse(await builtOk('list', '-o', 'json'));
    expect(record).toMatchObject({ name: 'one', status: 'Running', address, identity: 'kubernetes', store: 'memory', context: 'plat-one' });
    expect(await builtOk('list')).toMatch(new RegExp(`^NAME +STATUS +ADDRESS.*\\none +Running +${address} +kubernetes +memory +plat-one`));
    expect(await ok('list', '-o', 'name')).toBe('one\n');
    expect(config()).toMatchObject({
      clusters: [{ name: 'plat-one', cluster: { server: address } }],
      users: [{ name: 'plat-one' }],
      contexts: [{ name: 'plat-one', context: { cluster: 'plat-one', user: 'plat-one' } }],
      'current-context': 'plat-one',
    });
    for (const path of [join(home, '.kube', 'config'), state('one', 'server.log'), state('one', 'server.json'), record.ownKubeconfig])
      expect(statSync(path).mode & 0o777, path).toBe(0o600);
    expect(statSync(state('one')).mode & 0o777).toBe(0o700);
    expect(await builtOk('get', 'namespace', 'default', '-o', 'name', '--context', 'plat-one')).toBe('namespace/default\n');
    expect(await ok('get', 'namespace', 'default', '-o', 'name', '--kubeconfig', record.ownKubeconfig)).toBe('namespace/default\n');

    expect(await builtOk('down', 'one')).toBe('one removed\n');
    expect(alive(record.pid)).toBe(false);
    expect(existsSync(state('one'))).toBe(false);
    expect(config()).toMatchObject({ clusters: [], users: [], contexts: [], 'current-context': '' });
    expect(await listed()).toEqual([]);
  }, 300_000);

  test('the steps of the GitHub action start a server and set what it says', async () => {
    const { inputs, outputs, runs } = parse(readFileSync(join(programDirectory, '../examples/github-action/action.yml'), 'utf8')) as Loose;
    const value = (text: string): string => text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name) => inputs[name].default);
    const step = runs.steps.find(({ id }: Loose) => id === 'up');
    const files = { GITHUB_OUTPUT: join(home, 'output'), GITHUB_ENV: join(home, 'env') };
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'plat'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, { mode: 0o755 });
    const given = Object.fromEntries(Object.entries<string>(step.env).map(([name, text]) => [name, value(text)]));
    withKey(given.NAME as string);
    // As the runner starts the shell that a step names.
    const result = await new Promise<Result>((resolve) => {
      execFile(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run],
        { env: { ...env, ...given, ...files, PATH: `${bin}:${env.PATH}` }, cwd: home },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr }),
      );
    });
    expect(result).toMatchObject({ code: 0, stdout: '' });
    const set = (file: string): Record<string, string> =>
      Object.fromEntries(
        readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => line.split('=') as [string, string]),
      );
    const { KUBECONFIG = '', KUBEBUILDER_ASSETS = '' } = set(files.GITHUB_ENV);
    expect(outputs.kubeconfig.value).toContain('steps.up.outputs.kubeconfig');
    expect(set(files.GITHUB_OUTPUT)).toEqual({ kubeconfig: KUBECONFIG });
    expect(await ok('get', 'ns', 'default', '-o', 'name', '--kubeconfig', KUBECONFIG)).toBe('namespace/default\n');
    expect(existsSync(join(KUBEBUILDER_ASSETS, 'kube-apiserver'))).toBe(true);
  });

  test('several at once, each with its own port and entry; other entries stay', async () => {
    mkdirSync(join(home, '.kube'));
    const other = {
      clusters: [{ name: 'prod', cluster: { server: 'https://prod' } }],
      contexts: [{ name: 'prod', context: { cluster: 'prod' } }],
    };
    writeFileSync(join(home, '.kube', 'config'), JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...other, 'current-context': 'prod' }));
    chmodSync(join(home, '.kube', 'config'), 0o600);
    for (const name of ['a', 'b', 'c']) withKey(name);
    await Promise.all(['a', 'b', 'c'].map((name) => builtOk('up', name, '--store=memory')));
    const servers = await listed();
    expect(servers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(new Set(servers.map(({ address }) => address)).size).toBe(3);
    expect(config()['current-context']).toBe('prod');
    expect(
      config()
        .contexts.map(({ name }: Loose) => name)
        .sort(),
    ).toEqual(['plat-a', 'plat-b', 'plat-c', 'prod']);
    await ok('down', 'a', 'b');
    expect(config().contexts.map(({ name }: Loose) => name)).toEqual(['prod', 'plat-c']);
    expect(await ok('up', 'c', '-o', 'kubeconfig')).toBe(`${state('c', 'data', 'admin.conf')}\n`);
    await ok('down', '--all');
    expect(config()).toMatchObject({ ...other, 'current-context': 'prod' });
  }, 300_000);

  test('up of a name that runs: the same flags or none leave it alone, others are an error', async () => {
    withKey('default');
    await ok('up', '--store', 'memory', '--', '--v', '2');
    const before = await listed();
    expect(await plat('up', 'default')).toMatchObject({ code: 0, stderr: 'plat: default is already running\n' });
    expect(await plat('up', '--store', 'memory', '--', '--v', '2')).toMatchObject({ code: 0 });
    const refused = await plat('up', 'default', '--store', 'lmdb');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('default is running with other flags (--store=memory --v 2): `plat down default` first');
    expect(await listed()).toEqual(before);
  }, 300_000);

  test('a server that was stopped with --keep, or whose process is gone, starts again with its data', async () => {
    withKey('dev');
    await ok('up', 'dev', '--identity=kubernetes');
    await ok('create', 'configmap', 'kept', '--from-literal=a=b', '--context', 'plat-dev');
    expect(await ok('down', 'dev', '--keep')).toBe('dev stopped\n');
    expect(await listed()).toMatchObject([{ name: 'dev', status: 'Stopped', identity: 'kubernetes', store: 'lmdb' }]);
    expect(config().contexts).toEqual([]);
    await ok('up', 'dev');
    expect(await ok('get', 'configmap', 'kept', '-o', 'name', '--context', 'plat-dev')).toBe('configmap/kept\n');

    // The number of the process now belongs to another: that one must not be taken for the server, nor be ended.
    const record = JSON.parse(readFileSync(state('dev', 'server.json'), 'utf8'));
    await ok('down', 'dev', '--keep');
    const stale = { ...record, process: { pid: process.pid, started: 'another time' } };
    writeFileSync(state('dev', 'server.json'), jsonText(stale));
    expect(await listed()).toMatchObject([{ name: 'dev', status: 'Stopped' }]);
    writeFileSync(state('dev', 'server.json'), jsonText(stale));
    expect(await ok('down', 'dev')).toBe('dev removed\n');
    expect(alive(process.pid)).toBe(true);
  }, 300_000);

  test('a start that fails shows the end of the log and leaves nothing', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as { port: number };
    const { code, stdout, stderr } = await plat('up', 'bad', '--store=memory', '--', '--secure-port', String(port));
    blocker.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('plat: bad did not start: it exited with code 1; its log ends with\n\n');
    expect(stderr).toContain('--secure-port');
    expect(existsSync(state('bad'))).toBe(false);
    expect(await listed()).toEqual([]);
  }, 300_000);

  test.each([
    [['up', 'No_Name'], 2, '"No_Name" is not a server name'],
    [['up', 'a', 'b'], 2, 'unexpected argument "b"'],
    [['up', 'a', '--store', 'paper'], 2, '--store: "paper" is not one of lmdb, memory, etcd'],
    [['up', 'a', '--', '--data-dir=/x'], 2, '--data-dir cannot be used with plat up'],
    [['up', 'a', '--wait=soon'], 2, '--wait: "soon" is not a whole number'],
    [['down'], 2, 'name servers, or give --all'],
    [['down', 'a', '--all'], 2, 'name servers, or give --all'],
    [['down', '../x'], 2, '"../x" is not a server name'],
    [['down', 'nobody'], 1, 'nobody: there is no such server'],
    [['list', 'a'], 2, 'unexpected argument "a"'],
  ])('%j is refused', async (args, code, message) => {
    const result = await plat(...args);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(message);
  });

  test('down while the client configuration is locked fails and says so', async () => {
    const kubeconfig = join(home, '.kube', 'config');
    const address = 'https://127.0.0.1:1';
    mkdirSync(join(home, '.kube'));
    writeFileSync(kubeconfig, JSON.stringify({ clusters: [{ name: 'plat-a', cluster: { server: address } }] }));
    writeFileSync(`${kubeconfig}.lock`, '');
    // However long this takes, the lock is not so old that it was left behind.
    utimesSync(`${kubeconfig}.lock`, 2 ** 32, 2 ** 32);
    mkdirSync(state('a'), { recursive: true });
    const record = { name: 'a', address, identity: 'plat', store: 'memory', flags: [], cwd: home, kubeconfig, context: 'plat-a' };
    writeFileSync(state('a', 'server.json'), JSON.stringify(record));
    const result = await plat('down', 'a');
    rmSync(`${kubeconfig}.lock`);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('another program is writing');
  });

  test('an entry of the same name that someone else made is left alone', async () => {
    mkdirSync(join(home, '.kube'));
    writeFileSync(join(home, '.kube', 'config'), JSON.stringify({ contexts: [{ name: 'plat-mine', context: { cluster: 'x' } }] }));
    const { code, stderr } = await plat('up', 'mine', '--store=memory');
    expect(code).toBe(2);
    expect(stderr).toContain('has contexts with the name plat-mine already, which plat up did not make');
    expect(config().contexts).toEqual([{ name: 'plat-mine', context: { cluster: 'x' } }]);
  });
});
