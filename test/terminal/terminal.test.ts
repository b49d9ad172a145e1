/** What people see and press: colours, a live table, the pager, an editor, interrupts, completion in each shell. */
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { pagerMissing, RealTerminal, terminalMissing } from '../support/terminal.ts';

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'example.com/c:1' }] } });
const isMissing = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
};
/** How each shell is started without the files of its user, and what a user writes into them. */
const shells = [
  ['bash', 'bash --norc --noprofile', "PS1='# '; source <(plat completion bash)"],
  ['zsh', 'zsh -f', "PS1='# '; autoload -Uz compinit && compinit -D -u && source <(plat completion zsh)"],
  ['fish', 'fish --private', 'function fish_prompt; echo "# "; end; plat completion fish | source'],
] as const;
const configMap = (name: string) => ({ metadata: { name }, data: { word: 'before' } });

describe.skipIf(terminalMissing !== undefined)(`in a terminal (${terminalMissing ?? 'tmux'})`, () => {
  let server: TestServer;
  let terminal: RealTerminal;
  let ns: string;
  const path = (resource: string): string => `/api/v1/namespaces/${ns}/${resource}`;

  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    ns = await server.namespace();
    terminal = await RealTerminal.start({ KUBECONFIG: server.running.adminConfigPath, TERM: 'xterm-256color', N: ns });
  });
  afterEach(() => terminal?.close());

  test('states are coloured, unless the output goes elsewhere or NO_COLOR is set', async () => {
    await server.admin.ok('POST', path('pods'), pod('one'));
    await terminal.type('plat get pods -n $N; echo rc=$?');
    const screen = await terminal.shows(/rc=0/, true);
    expect(screen).toContain('\u001b[33mPending');
    expect(screen).toContain('\u001b[1mNAME');
    await terminal.clear();
    await terminal.type('NO_COLOR=1 plat get pods -n $N; plat get pods -n $N | cat; echo rc=$?');
    const plain = await terminal.shows(/rc=0/, true);
    expect(plain.match(/one +0\/1 +Pending/g)).toHaveLength(2);
    expect(plain).not.toContain('\u001b[33m');
  });

  test('a watch keeps its table up to date in place, and an interrupt leaves the terminal as it was', async () => {
    await server.admin.ok('POST', path('configmaps'), configMap('one'));
    await terminal.type('plat get cm -n $N -w; echo rc=$?');
    await terminal.shows(/^one +1/m);
    await expect.poll(() => terminal.cursorIsShown()).toBe(false);
    await server.admin.ok('POST', path('configmaps'), configMap('two'));
    await terminal.shows(/^one +1.*\n(?:.*\n)?two +1/m);
    await server.admin.ok('DELETE', path('configmaps/one'));
    await terminal.hides(/^one /m);
    await terminal.resize(50, 12);
    await server.admin.ok('POST', path('configmaps'), configMap('three'));
    await terminal.shows(/^three +1/m);
    await expect.poll(async () => (await terminal.screen()).match(/^NAME/gm)).toHaveLength(1);
    await terminal.key('C-c');
    await terminal.shows(/rc=130/);
    expect(await terminal.cursorIsShown()).toBe(true);
    expect(await terminal.screen()).toMatch(/^three +1/m);
  });

  test.skipIf(pagerMissing !== undefined)(`long help goes through the pager (${pagerMissing ?? 'less'})`, async () => {
    await terminal.type('plat help server; echo rc=$?');
    await terminal.shows(/^plat server/m);
    const first = await terminal.shows(/^:/m);
    expect(first).not.toContain('rc=');
    await terminal.key('Space');
    await terminal.hides(/^plat server/m);
    await terminal.key('q');
    await terminal.shows(/rc=0/);
    await terminal.clear();
    await terminal.type('PAGER=cat plat help server; echo rc=$?');
    await terminal.shows(/rc=0/);
  });

  test('an editor has the terminal', async () => {
    await server.admin.ok('POST', path('configmaps'), configMap('one'));
    await terminal.type(`export EDITOR="sh -c 'echo which word; read word; sed -i s/before/\\$word/ \\$0'"`);
    await terminal.clear();
    await terminal.type('plat edit cm/one -n $N; echo rc=$?');
    await terminal.shows(/which word/);
    await terminal.type('after');
    await terminal.shows(/configmap\/one edited[\s\S]*rc=0/);
    expect((await server.admin.ok('GET', path('configmaps/one'))).data).toEqual({ word: 'after' });
  });

  for (const [shell, start, settings] of shells)
    test.skipIf(isMissing(shell))(`the tab key completes types, names and values in ${shell}`, async () => {
      await server.admin.ok('POST', path('configmaps'), configMap('settings'));
      await terminal.type(start);
      await terminal.type(`${settings}; clear; echo read''y`);
      await terminal.shows(/^ready$/m);
      const tab = async (line: string, completed: string): Promise<void> => {
        await terminal.write(line);
        // One that is pressed while the shell reads the line is taken for a part of what is pasted.
        await terminal.shows(new RegExp(`# +${line}`));
        await terminal.key('Tab');
        await terminal.shows(new RegExp(`# +${completed}`));
        // Deletes the line. A signal would have the shell drop what is typed right after it, on a busy machine.
        await terminal.key('C-u');
        await terminal.type('clear');
        await terminal.hides(/configm|settings|use-c/);
      };
      await tab('plat config use-c', 'plat config use-context');
      await tab('plat get configm', 'plat get configmaps');
      await tab(`plat get cm -n ${ns} sett`, `plat get cm -n ${ns} settings`);
    });
});
