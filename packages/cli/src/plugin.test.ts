import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import type { ProgramName } from './command.ts';
import { run } from './index.ts';
import { testIO } from './testing.ts';

function plugins(files: Readonly<Record<string, number>>) {
  const directory = temporaryDirectory('plat-plugins');
  for (const [path, mode] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `#!/bin/sh\nprintf '%s|' "${path}" "$@" > ${join(directory, 'ran')}\nexit 7\n`);
    chmodSync(file, mode);
  }
  const env = { PATH: [join(directory, 'a'), join(directory, 'b')].join(delimiter) };
  return {
    directory,
    ran: () => readFileSync(join(directory, 'ran'), 'utf8'),
    async call(program: ProgramName, ...args: string[]) {
      const io = testIO({ program, env, cwd: directory });
      return { code: await run(args, io), stdout: io.stdout, stderr: io.stderr };
    },
  };
}

test('a program on the PATH is a command, the longest name first, under the name of this program', async () => {
  const { call, ran } = plugins({ 'a/plat-foo': 0o755, 'b/plat-foo-bar_baz': 0o755, 'b/kubectl-foo': 0o755, 'a/plat-get': 0o755 });
  expect(await call('plat', 'foo', 'bar-baz', 'x', '--flag')).toMatchObject({ code: 7 });
  expect(ran()).toBe('b/plat-foo-bar_baz|x|--flag|');
  expect((await call('plat', 'foo', '--help')).code).toBe(7);
  expect(ran()).toBe('a/plat-foo|--help|');
  expect((await call('kubectl', 'foo')).code).toBe(7);
  expect(ran()).toBe('b/kubectl-foo|');
  expect(await call('plat', 'fob')).toMatchObject({ stderr: expect.stringContaining('unknown command') });
});

test('own commands are not replaced, and names with paths lead nowhere', async () => {
  const { call } = plugins({ 'a/plat-version': 0o755, 'b/x': 0o755 });
  expect((await call('plat', 'version', '--help')).code).toBe(0);
  expect((await call('plat', '../b/x')).stderr).toContain('unknown command');
});

test('plugin list names them, and what is wrong with some', async () => {
  const { call, directory } = plugins({
    'a/plat-foo': 0o755,
    'b/plat-foo': 0o755,
    'b/plat-off': 0o644,
    'a/plat-get-x': 0o755,
    'a/other': 0o755,
  });
  const { code, stdout, stderr } = await call('plat', 'plugin', 'list');
  expect(code).toBe(1);
  expect(stdout).toBe(
    `The following compatible plugins are available:\n\n${['a/plat-foo', 'a/plat-get-x', 'b/plat-foo', 'b/plat-off'].map((one) => `${join(directory, one)}\n`).join('')}`,
  );
  expect(stderr).toContain('plat-get-x overwrites existing command: "plat get"');
  expect(stderr).toContain(`is overshadowed by a similarly named plugin: ${join(directory, 'a/plat-foo')}`);
  expect(stderr).toContain('plat-off identified as a plat plugin, but it is not executable');
  expect(stderr).toContain('3 plugin warnings were found');
  expect(await call('kubectl', 'plugin', 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('unable to find any kubectl plugins in your PATH'),
  });
  const fine = plugins({ 'a/plat-foo': 0o755, 'b/.keep': 0o644 });
  expect(await fine.call('plat', 'plugin', 'list', '--name-only')).toEqual({
    code: 0,
    stdout: 'The following compatible plugins are available:\n\nplat-foo\n',
    stderr: '',
  });
});
