import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/cli/index.ts';
import { testIO } from '../../src/cli/testing.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  ns = await server.namespace();
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'settings' } });
});
afterAll(() => server.close());

/** What fits at the end of these words. */
async function complete(...words: string[]): Promise<string[]> {
  const io = testIO({ env: { KUBECONFIG: server.running.adminConfigPath } });
  expect(await run(['__complete', '--', ...words], io)).toBe(0);
  expect(io.stderr).toBe('');
  return io.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] as string);
}

test('commands, and commands below them', async () => {
  expect(await complete('ge')).toEqual(['get']);
  expect(await complete('')).toContain('help');
  expect(await complete('')).not.toContain('__complete');
  expect(await complete('config', 'use')).toEqual(['use-context']);
  expect(await complete('nonsense', '')).toEqual([]);
});

test('flags and their values', async () => {
  expect(await complete('get', 'pods', '--all')).toEqual(['--all-namespaces']);
  expect(await complete('events', '-o', 'y')).toEqual(['yaml']);
  expect(await complete('apply', '-f', '')).toEqual([':files']);
  expect(await complete('get', 'pods', '-n', ns)).toEqual([ns]);
  expect(await complete('get', '--output', '=', 'js')).toContain('json');
  expect(await complete('get', '--context', '')).toEqual(await complete('config', 'use-context', ''));
  expect(await complete('config', 'use-context', '')).toHaveLength(1);
});

test('types and names', async () => {
  expect(await complete('get', 'configm')).toEqual(['configmaps']);
  expect(await complete('get', 'events')).toEqual(['events', 'events.events.k8s.io']);
  expect(await complete('get', 'cm', '-n', ns, 'set')).toEqual(['settings']);
  expect(await complete('-n', ns, 'get', 'cm', 'set')).toEqual([]);
  expect(await complete('delete', `--namespace=${ns}`, 'cm/se')).toEqual(['cm/settings']);
  expect(await complete('auth', 'can-i', 'cre')).toEqual(['create']);
  expect(await complete('auth', 'can-i', 'create', 'configm')).toEqual(['configmaps']);
});

test('names of background servers', async () => {
  const state = temporaryDirectory('plat-completion');
  for (const name of ['ci', 'dev']) {
    mkdirSync(join(state, 'plat', 'servers', name), { recursive: true });
    writeFileSync(join(state, 'plat', 'servers', name, 'server.json'), '{}');
  }
  const names = async (...args: string[]): Promise<string> => {
    const io = testIO({ env: { XDG_STATE_HOME: state } });
    expect(await run(['__complete', '--', ...args], io)).toBe(0);
    return io.stdout;
  };
  expect(await names('down', '')).toBe('ci\ndev\n');
  expect(await names('down', 'ci', 'd')).toBe('dev\n');
  expect(await names('up', 'c')).toBe('ci\n');
  expect(await names('up', 'ci', '')).toBe('');
});

test('no server, no names, and no words about it', async () => {
  const io = testIO({ env: { KUBECONFIG: '/nonexistent' } });
  expect(await run(['__complete', '--', 'get', 'pods', ''], io)).toBe(0);
  expect([io.stdout, io.stderr]).toEqual(['', '']);
});

const script = async (shell: string): Promise<string> => {
  const io = testIO();
  expect(await run(['completion', shell], io)).toBe(0);
  return io.stdout;
};
test('the script for bash completes with what the program says', async () => {
  const program = `plat() { [ "$1" = __complete ] || return 1; shift 2; printf '%s\\n' "\${*}-one	help" two; }
${await script('bash')}
COMP_WORDS=(plat get po) COMP_CWORD=2
_plat
printf '%s,' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', program]).toString()).toBe('get po-one,two,');
});
test('there are scripts for other shells, and help for mistakes', async () => {
  expect(await script('zsh')).toContain('compdef _plat plat');
  expect(await script('fish')).toContain('complete -c plat');
  const io = testIO();
  expect(await run(['completion', 'fiish'], io)).toBe(2);
  expect(io.stderr).toContain('(did you mean fish?)');
});
test('options are those of every command', async () => {
  const io = testIO();
  expect(await run(['options'], io)).toBe(0);
  expect(io.stdout).toContain('--as-group GROUP');
});
