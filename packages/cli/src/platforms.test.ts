/** What commands do on Windows and macOS, with the platform passed in. */
import { EventEmitter } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { startByProgram } from './background/process.ts';
import { editorLine } from './edit/editor.ts';
import { run } from './index.ts';
import { windowsLineEndingsFlag } from './objects/object-flags.ts';
import { defaultPager } from './output/pager.ts';
import { findPlugin } from './plugin.ts';
import { configFiles } from './server-choice.ts';
import { onStopSignals } from './terminal/stop-signal.ts';
import { testIO } from './testing.ts';

test('the editor is notepad on Windows and vi elsewhere; the file is one word of the line', () => {
  expect(editorLine('C:\\my files\\a.yaml', { env: {}, platform: 'win32' })).toEqual({
    editor: 'notepad',
    line: 'notepad "C:\\my files\\a.yaml"',
  });
  expect(editorLine("/tmp/$HOME/it's.yaml", { env: {}, platform: 'darwin' }).line).toBe(`vi '/tmp/$HOME/it'\\''s.yaml'`);
  expect(editorLine('a', { env: { EDITOR: 'code --wait' }, platform: 'win32' }).line).toBe('code --wait "a"');
  expect([windowsLineEndingsFlag('', 'win32').default, windowsLineEndingsFlag('', 'darwin').default]).toEqual([true, false]);
});

test('the pager is one that the platform has', () => {
  expect([defaultPager('win32'), defaultPager('darwin'), defaultPager('linux')]).toEqual(['more', 'less -FRX', 'less -FRX']);
});

test('Windows terminates by Ctrl+Break and by closing the window', () => {
  const heard = (platform: NodeJS.Platform): string[] => {
    const source = new EventEmitter();
    const signals: string[] = [];
    const forget = onStopSignals(source, platform, (signal) => signals.push(signal));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']) source.emit(signal);
    forget();
    expect(source.eventNames()).toEqual([]);
    return signals;
  };
  expect(heard('linux')).toEqual(['SIGINT', 'SIGTERM']);
  expect(heard('win32')).toEqual(['SIGINT', 'SIGTERM', 'SIGTERM', 'SIGTERM']);
});

test('the start of a process is asked of ps, and of PowerShell on Windows', () => {
  const asked: string[] = [];
  const answering = (answer: string) => (program: string, args: readonly string[]) => {
    asked.push(`${program} ${args.at(-1)}`);
    return answer;
  };
  expect(startByProgram(7, 'win32', answering('133443\r\n'))).toBe('133443');
  expect(startByProgram(7, 'darwin', answering('Ss   Tue Nov 17 10:00:00 2026\n'))).toBe('Tue Nov 17 10:00:00 2026');
  expect(startByProgram(7, 'darwin', answering('Z    Tue Nov 17 10:00:00 2026\n'))).toBeUndefined();
  const failing = (): string => {
    throw new Error('no such process');
  };
  expect([startByProgram(7, 'win32', failing), startByProgram(7, 'darwin', failing)]).toEqual([undefined, undefined]);
  expect(asked).toEqual(['powershell.exe (Get-Process -Id 7 -ErrorAction Stop).StartTime.ToFileTimeUtc()', ...['ps 7', 'ps 7']]);
});

test('plug-ins of Windows are programs by the end of their name', () => {
  const directory = temporaryDirectory('plat-windows-plugins');
  for (const name of ['plat-a.exe', 'plat-b.cmd', 'plat-c']) writeFileSync(join(directory, name), '', { mode: 0o755 });
  const found = (platform: NodeJS.Platform) =>
    ['a', 'b', 'c'].filter((name) => findPlugin([name], testIO({ platform, env: { PATH: directory } })) !== undefined);
  expect([found('win32'), found('linux')]).toEqual([['a'], ['c']]);
});

test('on Windows, the server of a directory is believed below the directory of the user', () => {
  const [home, other] = [temporaryDirectory('plat-home'), temporaryDirectory('plat-other')];
  const fileOf = (cwd: string): string => join(cwd, '.plat', 'admin.conf');
  for (const cwd of [home, other]) {
    mkdirSync(join(cwd, '.plat'));
    writeFileSync(fileOf(cwd), '', { mode: 0o600 });
  }
  const believed = (cwd: string, platform: NodeJS.Platform): boolean =>
    configFiles(undefined, testIO({ cwd, home, platform })).includes(fileOf(cwd));
  expect([believed(home, 'win32'), believed(other, 'win32'), believed(other, 'linux')]).toEqual([true, false, true]);
});

test.each([
  [['envtest'], /scripts of sh.*use WSL/],
  [['proxy', '--unix-socket=/tmp/s'], /--unix-socket: Windows has none/],
])('what Windows cannot do is said: %j', async (args, message) => {
  const io = testIO({ platform: 'win32' });
  expect(await run(args, io)).not.toBe(0);
  expect(io.stderr).toMatch(message);
});
