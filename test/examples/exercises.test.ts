/** examples/exercises: each check says what is missing at first, and that it is solved after the solution. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = temporaryDirectory('exercises');
const names = readdirSync(join(root, 'examples/exercises')).filter((name) => /^\d/.test(name));

function exercise(...args: string[]): { code: number | null; output: string } {
  const env = { PATH: `${join(directory, 'bin')}:${process.env.PATH}`, HOME: directory, XDG_STATE_HOME: join(directory, 'state') };
  const { status, stdout, stderr } = spawnSync(join(directory, 'exercises/exercise'), args, { env, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

beforeAll(() => {
  cpSync(join(root, 'examples/exercises'), join(directory, 'exercises'), { recursive: true });
  mkdirSync(join(directory, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/plat.js')}" "$@"\n`;
  writeFileSync(join(directory, 'bin/plat'), program, { mode: 0o755 });
  const { code, output } = exercise('up');
  expect(code, output).toBe(0);
}, 120_000);
afterAll(() => void exercise('down'));

test('there are twelve, and the list names them', () => {
  expect(names).toHaveLength(12);
  expect(exercise('list').output.trim().split('\n')).toHaveLength(12);
});

test.each(names)('%s', { timeout: 240_000 }, (name) => {
  const number = String(Number(name.slice(0, 2)));
  const started = exercise('start', number);
  expect(started.code, started.output).toBe(0);
  const before = exercise('check', number);
  expect(before.code, before.output).toBe(1);
  expect(before.output).not.toBe('');
  const solved = exercise('solve', number);
  expect(solved.code, solved.output).toBe(0);
  expect(exercise('check', number)).toEqual({ code: 0, output: 'solved\n' });
});

test('what does not exist is said with how to use it', () => {
  for (const args of [[], ['check'], ['check', '99'], ['check', 'x'], ['fly']]) {
    const { code, output } = exercise(...args);
    expect(code, args.join(' ')).toBe(2);
    expect(output).toContain('./exercise list');
  }
});
