import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { productVersion } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { commands, run } from './index.ts';
import { testIO } from './testing.ts';

async function plat(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = testIO();
  const code = await run(args, io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

test('help lists every command', async () => {
  for (const args of [[], ['help'], ['--help']]) {
    const { code, stdout } = await plat(...args);
    expect(code).toBe(0);
    for (const { name, summary } of commands) expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
  }
});

test('help of a command shows its flags', async () => {
  for (const args of [
    ['help', 'server'],
    ['server', '--help'],
  ]) {
    expect((await plat(...args)).stdout).toContain('--secure-port PORT');
  }
  expect((await plat('get', '-h')).stdout).toContain('-l, --selector QUERY');
});

test('an unknown command is refused with a suggestion', async () => {
  expect(await plat('sever')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'plat: unknown command "sever" (did you mean server?); `plat help` lists them\n',
  });
  expect((await plat('help', 'gte')).stderr).toContain('(did you mean get?)');
});

test('a wrong flag is refused before anything is done', async () => {
  expect(await plat('server', '--secure-prot=1')).toMatchObject({
    code: 2,
    stderr: 'plat: unknown flag --secure-prot (did you mean --secure-port?)\n',
  });
});

test('the version is that of the package', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect(productVersion).toBe(manifest.version);
  const own = `plat ${manifest.version} (API v1.24, v1.15 to v1.36 with --api-release, Node ${process.version})\n`;
  // No server is known.
  expect((await plat('version')).stdout).toBe(own);
  expect((await plat('version', '--client')).stdout).toBe(own);
  expect((await plat('-v')).stdout).toBe(own);
  expect(JSON.parse((await plat('version', '-o', 'json')).stdout)).toMatchObject({
    clientVersion: { major: '1', minor: '24', gitVersion: 'v1.24.17' },
  });
  expect((await plat('version', '-o', 'yaml')).stdout).toContain('clientVersion:\n  buildDate: "1970-01-01T00:00:00Z"\n');
  expect((await plat('version', '--client', '--short')).stdout).toBe('Client Version: v1.24.17\nKustomize Version: v4.5.4\n');
  expect((await plat('--version')).stdout).toContain(manifest.version);
});

test('flags may stand before the command', async () => {
  const seen: (readonly string[])[] = [];
  const command = {
    name: 'exec',
    summary: '',
    flags: {},
    help: () => '',
    run: async (args: readonly string[]) => {
      seen.push(args);
      return 0;
    },
  };
  const table = [{ name: 'exec', summary: '', load: async () => command as never }];
  const io = testIO();
  expect(await run(['-n', 'team', '--insecure-skip-tls-verify', '--context=c', 'exec', 'pod', '-i', '--', 'ls', '-l'], io, table)).toBe(0);
  expect(seen).toEqual([['pod', '-n', 'team', '--insecure-skip-tls-verify', '--context=c', '-i', '--', 'ls', '-l']]);
  expect(await run(['--kubeconfig', 'f'], io, table)).toBe(2);
  expect(io.stderr).toContain('a command is missing');
});

test('help of help, and of what is not there', async () => {
  expect(await plat('help', 'help')).toMatchObject({ code: 0, stdout: expect.stringContaining('plat help [COMMAND]') });
  expect(await plat('help', 'config', 'veiw')).toMatchObject({ code: 2, stderr: expect.stringContaining('(did you mean view?)') });
});

test('global flags with a value may stand between a group of commands and one of it', async () => {
  const file = join(temporaryDirectory('plat-index'), 'config');
  expect(await plat('config', '--kubeconfig', file, 'set-credentials', 'alice', '--token', 'x')).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(file, 'utf8')).toContain('alice');
  for (const [group, below] of [
    ['why', 'denied'],
    ['rollout', 'history'],
    ['top', 'pod'],
    ['auth', 'can-i'],
  ] as const)
    expect((await plat(group, '-n', 'team', below, '--help')).stdout, group).toMatch(new RegExp(`^plat ${group} ${below} `));
});

test('flags of a command with their values may stand before its name, and before its group', async () => {
  const isUndo = { code: 0, stdout: expect.stringMatching(/^plat rollout undo /) };
  expect(await plat('rollout', '--to-revision', '2', 'undo', 'deployment/web', '--help')).toMatchObject(isUndo);
  expect(await plat('--to-revision', '2', 'rollout', 'undo', 'deployment/web', '--help')).toMatchObject(isUndo);
  expect(await plat('rollout', '--to-revision=2', 'undo', '--help')).toMatchObject(isUndo);
  // A switch has no value: the next argument is the command.
  expect(await plat('rollout', '--dry-run', 'undo', '--help')).toMatchObject(isUndo);
  expect(await plat('-o', 'yaml', 'why', '-o', 'json', 'not', '-o', 'yaml', 'ready', '--help')).toMatchObject({
    stdout: expect.stringMatching(/^plat why not ready /),
  });
  // The flag and its value reach the command: the error is about the value, and not about the command line.
  expect(await plat('rollout', '--to-revision', 'two', 'undo', 'deployment/web')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--to-revision: "two" is not a whole number'),
  });
  expect(await plat('rollout', '--to-revision', '2', 'undoo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown command "rollout undoo" (did you mean undo?)'),
  });
});

test('log is not said to go on by itself', async () => {
  expect((await plat('help')).stdout).not.toMatch(/^ {2}log .*as it happens/m);
});

test('flags may stand before a command below another', async () => {
  const seen: { path: string; args: readonly string[] }[] = [];
  const leaf = (path: string) => ({
    usage: '',
    summary: '',
    flags: {},
    help: () => '',
    run: async (args: readonly string[]) => {
      seen.push({ path, args });
      return 0;
    },
  });
  const namespace = { isSwitch: false, short: 'n' };
  const head = {
    ...leaf('create'),
    flags: { All: { namespace, filename: { isSwitch: false, short: 'f' }, quiet: { isSwitch: true } } } as never,
    commands: [{ name: 'configmap', aliases: ['cm'], summary: '', load: async () => leaf('create configmap') }],
  };
  const table = [{ name: 'create', summary: '', load: async () => head }];
  const io = testIO();
  for (const args of [
    ['create', '-n', 'x', 'cm', 'y'],
    ['create', '--quiet', '--namespace', 'x', 'configmap', 'y'],
    ['-n', 'x', 'create', 'cm', 'y'],
    ['create', '-f', '-'],
    ['create', '--quiet', '--', 'cm'],
  ])
    expect(await run(args, io, table)).toBe(0);
  expect(seen).toEqual([
    { path: 'create configmap', args: ['y', '-n', 'x'] },
    { path: 'create configmap', args: ['y', '--quiet', '--namespace', 'x'] },
    { path: 'create configmap', args: ['y', '-n', 'x'] },
    { path: 'create', args: ['-f', '-'] },
    { path: 'create', args: ['--quiet', '--', 'cm'] },
  ]);
});

test('called as kubectl: its name, its errors, its exit codes', async () => {
  const kubectl = async (...args: string[]) => {
    const io = testIO({ program: 'kubectl' });
    return { code: await run(args, io), stdout: io.stdout, stderr: io.stderr };
  };
  expect((await kubectl('help', 'get')).stdout).toMatch(/^kubectl get /);
  expect(await kubectl('gte')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'error: unknown command "gte" for "kubectl"\n\nDid you mean this?\n\tget\n\tset\n',
  });
  // A command that only plat has; another tool's name for get.
  expect((await kubectl('list')).stderr).toBe('error: unknown command "list" for "kubectl"\n\nDid you mean this?\n\tget\n\twait\n');
  expect(await kubectl('get', '--nonsense')).toMatchObject({
    code: 1,
    stderr: "error: unknown flag: --nonsense\nSee 'kubectl get --help' for usage.\n",
  });
  expect((await kubectl('version', '--client')).stdout).toMatch(
    /^Client Version: version\.Info\{Major:"1", Minor:"24", GitVersion:"v1\.24\./,
  );
});

test('as kubectl every command takes the flags of all, and those about log files with a warning', async () => {
  const io = testIO({ program: 'kubectl' });
  expect(await run(['--context', 'a', 'options', '-n', 'x', '--logtostderr', '--log-file=f', '-v', '3'], io)).toBe(0);
  expect(io.stderr).toBe(
    'Flag --logtostderr has been deprecated, there are no log files\nFlag --log-file has been deprecated, there are no log files\n',
  );
  const own = testIO();
  expect(await run(['options', '--logtostderr'], own)).toBe(2);
});

test('a profile of a command is written', async () => {
  const cwd = temporaryDirectory('plat-profile');
  const io = testIO({ cwd });
  expect(await run(['version', '--client', '--profile=cpu', '--profile-output', 'p.json'], io)).toBe(0);
  expect(JSON.parse(readFileSync(join(cwd, 'p.json'), 'utf8'))).toHaveProperty('nodes');
  expect(await run(['version', '--client', '--profile=mutex'], testIO({ cwd }))).toBe(2);
});
