import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
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
  // The deadline of the requests never comes, however busy the machine is.
  const io = testIO({ env: { KUBECONFIG: server.running.adminConfigPath }, clock: new FakeClock() });
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
  expect(await complete('get', 'pods', '--all-')).toEqual(['--all-namespaces']);
  expect(await complete('events', '-o', 'y')).toEqual(['yaml']);
  expect(await complete('apply', '-f', '')).toEqual([':files']);
  expect(await complete('get', 'pods', '-n', ns)).toEqual([ns]);
  expect(await complete('get', '--output', '=', 'js')).toContain('json');
  expect(await complete('get', '--context', '')).toEqual(await complete('config', 'use-context', ''));
  expect(await complete('config', 'use-context', '')).toHaveLength(1);
});

test('values behind an equals sign, in one word as most shells have it', async () => {
  expect(await complete('get', 'pods', '--output=js')).toEqual(expect.arrayContaining(['--output=json', '--output=jsonpath=']));
  expect(await complete('get', 'pods', '-o', 'jsonp')).toContain('jsonpath=');
  expect((await complete('get', 'pods', '-o', '')).join()).not.toMatch(/[…A-Z]/);
  expect(await complete('get', 'pods', `--namespace=${ns}`)).toEqual([`--namespace=${ns}`]);
  expect(await complete('apply', '--filename=')).toEqual([':files']);
});

test('flags before the command, and their values', async () => {
  expect(await complete('--names')).toEqual(['--namespace']);
  expect(await complete('-n', ns)).toEqual([ns]);
  expect(await complete('-n', ns, 'ge')).toEqual(['get']);
  expect(await complete('rollout', '--to-revision', '2', 'undo', '--dry')).toEqual(['--dry-run']);
});

test('containers of a pod, and fields of a type', async () => {
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, {
    metadata: { name: 'web' },
    spec: {
      containers: [
        { name: 'main', image: 'i' },
        { name: 'side', image: 'i' },
      ],
      initContainers: [{ name: 'init', image: 'i' }],
    },
  });
  expect(await complete('logs', 'web', '-n', ns, '-c', '')).toEqual(['main', 'side', 'init']);
  expect(await complete('logs', 'pod/web', '-n', ns, '--container=s')).toEqual(['--container=side']);
  expect(await complete('explain', 'pod.spec.containers.image')).toEqual([
    'pod.spec.containers.image',
    'pod.spec.containers.imagePullPolicy',
  ]);
  expect(await complete('explain', 'deploymen')).toEqual(['deployments']);
  expect(await complete('explain', 'nothing.spec.')).toEqual([]);
});

test('types and names', async () => {
  expect(await complete('get', 'configm')).toEqual(['configmaps']);
  expect(await complete('get', 'events')).toEqual(['events', 'events.events.k8s.io']);
  expect(await complete('get', 'cm', '-n', ns, 'set')).toEqual(['settings']);
  expect(await complete('-n', ns, 'get', 'cm', 'set')).toEqual(['settings']);
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

test('a server that does not answer is not waited for', async () => {
  const silent = createServer();
  const requested = new Promise((resolve) => silent.once('request', resolve));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const time = new FakeClock();
  const io = testIO({ clock: time });
  const { port } = silent.address() as AddressInfo;
  const code = run(['__complete', '--', '-s', `http://127.0.0.1:${port}`, 'get', 'pods', ''], io);
  await requested;
  await time.advance(3000);
  expect([await code, io.stdout, io.stderr]).toEqual([0, '', '']);
  silent.closeAllConnections();
  silent.close();
});

test('a shell that leaves out empty arguments says that there is one', async () => {
  const printed = async (...args: string[]): Promise<string> => {
    const io = testIO({ env: { KUBECONFIG: '/nonexistent' } });
    expect(await run(['__complete', ...args], io)).toBe(0);
    return io.stdout;
  };
  expect(await printed('--next', '--', 'rollout')).toBe(await printed('--', 'rollout', ''));
  expect(await printed('--next', '--', 'rollout')).toContain('undo\t');
  expect(await printed('--', 'rollout')).not.toContain('undo');
  expect(await script('powershell')).toContain("else { @('--next', '--') + $words }");
});

test('no server, no names, and no words about it', async () => {
  const io = testIO({ env: { KUBECONFIG: '/nonexistent' } });
  expect(await run(['__complete', '--', 'get', 'pods', ''], io)).toBe(0);
  expect([io.stdout, io.stderr]).toEqual(['', '']);
});

const script = async (shell: string, program: 'plat' | 'kubectl' = 'plat'): Promise<string> => {
  const io = testIO({ program });
  expect(await run(['completion', shell], io)).toBe(0);
  return io.stdout;
};
/** Why a shell cannot be run here; undefined: it can. */
function missing(shell: string, ...args: string[]): string | undefined {
  try {
    execFileSync(shell, args, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `there is no ${shell} on the PATH`;
  }
}

test('the script for bash completes with what the program says', async () => {
  const program = `plat() { [ "$1" = __complete ] || return 1; shift 2; printf '%s\\n' "\${*}-one	help" two; }
${await script('bash')}
COMP_WORDS=(plat get po) COMP_CWORD=2
_plat
printf '%s,' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', program]).toString()).toBe('get po-one,two,');
});

const noZsh = missing('zsh', '-c', 'true');
test.skipIf(noZsh !== undefined)(`the script for zsh completes with what the program says${noZsh ? ` (${noZsh})` : ''}`, async () => {
  // The functions of its completion system say what they were given.
  const program = `plat() { [ "$1" = __complete ] || return 1; shift 2; printf '%s\\n' "\${*}-one	help" two json=; }
compdef() { :; }
compadd() { print -r -- "open \${@[-1]}"; }
_describe() { print -r -- "\${(P@)2}"; }
${await script('zsh')}
words=(plat get po) CURRENT=3
_plat`;
  expect(execFileSync('zsh', ['-f', '-c', program]).toString()).toBe('open json=\nget po-one:help two:two\n');
});

const noFish = missing('fish', '-c', 'true');
test.skipIf(noFish !== undefined)(`the script for fish completes with what the program says${noFish ? ` (${noFish})` : ''}`, async () => {
  const home = temporaryDirectory('plat-fish');
  const program = `function plat; test "$argv[1]" = __complete; or return 1; printf '%s\\n' "$argv[3]-$argv[4]-one	help" pods; end
${await script('fish')}
complete -C 'plat get po'`;
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
  expect(execFileSync('fish', ['-c', program], { env }).toString()).toBe('pods\n');
  const first = program.replace("'plat get po'", "'plat get get-'");
  expect(execFileSync('fish', ['-c', first], { env }).toString()).toBe('get-get--one\thelp\n');
});

const noPowerShell = missing('pwsh', '-v');
test.skipIf(noPowerShell !== undefined)(
  `the script for PowerShell completes with what the program says${noPowerShell ? ` (${noPowerShell})` : ''}`,
  async () => {
    const program = `function plat { if ($args[0] -eq '__complete') { "$($args[2])-$($args[3])-one\`thelp"; 'pods' } }
${await script('powershell')}
(TabExpansion2 'plat get po' 11).CompletionMatches | ForEach-Object { $_.CompletionText }`;
    expect(execFileSync('pwsh', ['-NoProfile', '-Command', program]).toString()).toBe('get-po-one\npods\n');
  },
);

test('scripts are for the name that the program was called by, and help for mistakes', async () => {
  expect(await script('zsh')).toContain('compdef _plat plat');
  expect(await script('fish')).toContain('complete -c plat');
  expect(await script('powershell')).toContain('-CommandName plat');
  expect(await script('bash', 'kubectl')).toContain('complete -F _kubectl kubectl');
  expect(await script('bash', 'kubectl')).not.toContain('plat');
  const io = testIO();
  expect(await run(['completion', 'fiish'], io)).toBe(2);
  expect(io.stderr).toContain('(did you mean fish?)');
});
test('options are those of every command', async () => {
  const io = testIO();
  expect(await run(['options'], io)).toBe(0);
  expect(io.stdout).toContain('--as-group GROUP');
});
