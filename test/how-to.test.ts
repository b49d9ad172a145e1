/** The pages of docs/how-to: their steps are followed in a copy of the tree, which must compile, and their commands are run. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../packages/lib/src/testing/temporary.testing.ts';
import { filesOfCommands, follow, stepsOf } from './support/how-to.ts';
import { platFor } from './support/plat.ts';
import { startTestServer } from './support/server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = readdirSync(join(root, 'docs/how-to')).filter((name) => name !== 'README.md');
const pageOf = (name: string): string => readFileSync(join(root, 'docs/how-to', name), 'utf8');

/** The workspaces among the dependencies are those of the copy. */
function copyOfTree(): string {
  const copy = temporaryDirectory('how-to');
  const parts = ['packages', 'test', 'docs', 'bench', 'scripts', 'tsconfig.json', 'vitest.config.ts', 'package.json'];
  const filter = (source: string): boolean => !source.includes('node_modules');
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, filter });
  const link = (target: string, name: string): void => symlinkSync(target, join(copy, 'node_modules', name));
  mkdirSync(join(copy, 'node_modules/@plat-dev'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) if (name !== '@plat-dev') link(join(root, 'node_modules', name), name);
  for (const name of readdirSync(join(copy, 'packages'))) link(join(copy, 'packages', name), `@plat-dev/${name}`);
  return copy;
}

test('the tree compiles after the steps of all pages, and the tests that they run are there', { timeout: 300_000 }, () => {
  const copy = copyOfTree();
  for (const name of names) for (const step of stepsOf(pageOf(name))) follow(copy, step);
  const missing = names.flatMap((name) => filesOfCommands(pageOf(name))).filter((file) => !existsSync(join(copy, file)));
  expect(missing).toEqual([]);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const compile = (): string => execFileSync(process.execPath, [compiler, '-p', copy], { encoding: 'utf8' });
  expect(compile()).toBe('');
});

test('a line that a page names must be in its file once', () => {
  const copy = temporaryDirectory('how-to');
  cpSync(join(root, 'tsconfig.json'), join(copy, 'a.json'));
  expect(() => follow(copy, { type: 'insert', file: 'a.json', after: 'nothing\n', text: '' })).toThrow('a.json has "nothing\\n" 0 times');
  expect(() => follow(copy, { type: 'create', file: 'a.json', text: '' })).toThrow('a.json exists');
});

test('every page of changes has steps, and every file that a page names is there', () => {
  const withoutSteps = names.filter((name) => stepsOf(pageOf(name)).length === 0);
  expect(withoutSteps).toEqual(['find-why-a-request-was-refused.md']);
  for (const name of names) {
    const page = pageOf(name);
    const created = stepsOf(page).flatMap(({ type, file }) => (type === 'create' ? [file] : []));
    const named = [...page.matchAll(/`((?:src|test|docs|packages)\/[\w./-]+)`/g)].map(([, file = '']) => file);
    expect(named.filter((file) => !created.includes(file) && !existsSync(join(root, file)))).toEqual([]);
  }
});

test('the commands of the page on refusals print what it shows', async () => {
  const server = await startTestServer();
  try {
    const plat = platFor(server, { PLATCONFIG: server.running.adminConfigPath }, []);
    const consoles = [...pageOf('find-why-a-request-was-refused.md').matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    for (const [, line = '', output = ''] of consoles.join('').matchAll(/^\$ plat (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
      const { stdout, stderr } = await plat.run(line.split(' '));
      expect(stdout + stderr).toBe(output);
    }
  } finally {
    await server.close();
  }
});
