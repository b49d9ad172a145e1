/**
 * Runs the commands of a page, as a reader would: one after another in one shell, in a directory of their own.
 *
 *   Create `FILE`: and a block        a file of that directory
 *   a block of ```console             `$ COMMAND` and what it prints. `…` stands for any text, alone on a line for any lines; runs of
 *                                     spaces are equal
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface PageCommand {
  readonly line: string;
  readonly expected: string;
}
type Item = { readonly type: 'file'; readonly name: string; readonly text: string } | ({ readonly type: 'command' } & PageCommand);

/** Files and commands in their order. */
export function itemsOf(page: string): Item[] {
  const blocks = /Create `([^`]+)`:\n\n```\w+\n([\s\S]*?)```|```console\n([\s\S]*?)```/g;
  return [...page.matchAll(blocks)].flatMap(([, name, text = '', lines = '']): Item[] =>
    name === undefined
      ? [...lines.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, line = '', expected = '']) => ({ type: 'command', line, expected }))
      : [{ type: 'file', name, text }],
  );
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const spaced = (text: string): string => text.replace(/ +/g, ' ').replace(/ +$/gm, '');

/** Whether a command printed what its page shows. */
export function isShown(expected: string, printed: string): boolean {
  const pattern = spaced(expected)
    .split('\n')
    .slice(0, -1)
    .map((line) => (line === '…' ? '(?:.*\\n)*' : `${line.split('…').map(escaped).join('.*')}\\n`))
    .join('');
  return new RegExp(`^${pattern}$`).test(spaced(printed.endsWith('\n') || printed === '' ? printed : `${printed}\n`));
}

export interface Outcome extends PageCommand {
  readonly printed: string;
  readonly code: number;
}

/** What each command printed, on either output, until one fails. */
export function runPage(page: string): Outcome[] {
  const directory = temporaryDirectory('page');
  const programs = join(directory, 'bin');
  mkdirSync(programs);
  mkdirSync(join(directory, 'node_modules/@plat-dev'), { recursive: true });
  symlinkSync(root, join(directory, 'node_modules/@plat-dev/plat'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/plat.js')}" "$@"\n`;
  writeFileSync(join(programs, 'plat'), program, { mode: 0o755 });
  const commands: PageCommand[] = [];
  const script = itemsOf(page).map((item) => {
    if (item.type === 'file') {
      writeFileSync(join(directory, item.name), item.text);
      return '';
    }
    const number = commands.push(item) - 1;
    return `echo '@@begin ${number}'\n${item.line}\ncode=$?\necho\necho "@@end $code"\n[ $code -eq 0 ] || exit 0\n`;
  });
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    HOME: directory,
    XDG_STATE_HOME: join(directory, 'state'),
    XDG_CACHE_HOME: join(directory, 'cache'),
    LANG: 'C.UTF-8',
  };
  const { stdout } = spawnSync('sh', ['-c', `exec 2>&1\n${script.join('')}`], { cwd: directory, env, encoding: 'utf8' });
  // Whatever a page that fails leaves behind.
  for (const name of serversOf(commands)) stop(name, directory, env);
  return [...stdout.matchAll(/^@@begin (\d+)\n([\s\S]*?)\n@@end (\d+)$/gm)].map(([, number, printed = '', code]) => ({
    ...(commands[Number(number)] as PageCommand),
    printed,
    code: Number(code),
  }));
}

const serversOf = (commands: readonly PageCommand[]): string[] =>
  commands.flatMap(({ line }) => /\bplat up (\w+)/.exec(line)?.[1] ?? []).filter((name, index, all) => all.indexOf(name) === index);

function stop(name: string, cwd: string, env: Readonly<Record<string, string>>): void {
  try {
    execFileSync('plat', ['down', name], { cwd, env, stdio: 'ignore' });
  } catch {
    // It was stopped by the page.
  }
}
