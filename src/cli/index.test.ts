import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { productVersion } from '../lib/version.ts';
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
  expect((await plat('get', '-h')).stdout).toContain('-n, --namespace NAME');
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
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect(productVersion).toBe(manifest.version);
  expect((await plat('version')).stdout).toBe(
    `plat ${manifest.version} (API v1.24, v1.15 to v1.27 with --api-release, Node ${process.version})\n`,
  );
  expect((await plat('--version')).stdout).toContain(manifest.version);
});

test('flags may stand before the command', async () => {
  const seen: (readonly string[])[] = [];
  const command = {
    name: 'exec',
    summary: '',
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
