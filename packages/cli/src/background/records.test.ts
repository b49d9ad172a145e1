import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { processOf } from './process.ts';
import { checkName, Records } from './records.ts';

const records = (home: string): Records => new Records({ env: {}, home });

test('servers stand in the state directory of the user', () => {
  expect(records('/h').directory('a')).toBe('/h/.local/state/plat/servers/a');
  expect(new Records({ env: { XDG_STATE_HOME: '/s' }, home: '/h' }).logFile('a')).toBe('/s/plat/servers/a/server.log');
});

test('names are names of directories', () => {
  expect(checkName('a')).toBe('a');
  expect(checkName('ci-2')).toBe('ci-2');
  for (const name of ['', '.', '..', 'a/b', '-a', 'a-', 'A', 'a.b', 'x'.repeat(64)])
    expect(() => checkName(name), name).toThrow('is not a server name');
});

test('one command at a time; a claim of a command that has ended is taken over', async () => {
  const home = temporaryDirectory('plat-records');
  const own = records(home);
  const claim = join(home, '.local/state/plat/servers/a.claim');
  await own.claim('a', async () => {
    await expect(own.claim('a', async () => {})).rejects.toThrow('another plat command is starting or stopping a');
    expect(await own.claim('b', async () => 'free')).toBe('free');
  });
  expect(existsSync(claim)).toBe(false);
  for (const left of [JSON.stringify({ pid: process.pid, started: 'earlier' }), '']) {
    writeFileSync(claim, left);
    expect(await own.claim('a', async () => 'taken')).toBe('taken');
  }
  writeFileSync(claim, JSON.stringify(processOf(process.pid)));
  await expect(own.claim('a', async () => {})).rejects.toThrow('another plat command');
});

test('what cannot be read is named', async () => {
  const own = records(temporaryDirectory('plat-records'));
  expect(await own.names()).toEqual([]);
  expect(await own.read('a')).toBeUndefined();
  await mkdir(own.directory('a'), { recursive: true });
  expect(await own.names()).toEqual([]);
  writeFileSync(join(own.directory('a'), 'server.json'), '{');
  expect(await own.names()).toEqual(['a']);
  await expect(own.read('a')).rejects.toThrow('server.json cannot be read');
});

test('a claim that was left behind is taken over by one command alone', async () => {
  const home = temporaryDirectory('plat-records');
  const own = records(home);
  const root = join(home, '.local/state/plat/servers');
  const leave = (): void => writeFileSync(join(root, 'a.claim'), JSON.stringify({ pid: process.pid, started: 'earlier' }));
  await mkdir(root, { recursive: true });
  // Another that may be about to take it over; its file may be empty still.
  for (const text of [JSON.stringify(processOf(process.pid)), '']) {
    leave();
    writeFileSync(join(root, `a.claim.${process.pid}.x`), text);
    await expect(own.claim('a', async () => {})).rejects.toThrow('another plat command is starting or stopping a');
  }
  // One that has ended on its way.
  writeFileSync(join(root, `a.claim.${process.pid}.x`), JSON.stringify({ pid: process.pid, started: 'earlier' }));
  expect(await own.claim('a', async () => 'taken')).toBe('taken');
  expect(await readdir(root)).toEqual([]);
  leave();
  let holders = 0;
  const claims = Array.from({ length: 20 }, () =>
    records(home).claim('a', async () => {
      expect(++holders).toBe(1);
      await readdir(root);
      holders--;
    }),
  );
  for (const result of await Promise.allSettled(claims))
    if (result.status === 'rejected') expect(String(result.reason)).toContain('another plat command');
});

test('a directory that cannot be read is an error, one that is not there is empty', async () => {
  const home = temporaryDirectory('plat-records');
  await mkdir(join(home, '.local/state/plat'), { recursive: true });
  writeFileSync(join(home, '.local/state/plat/servers'), 'not a directory');
  await expect(records(home).names()).rejects.toThrow('cannot list the servers of plat up: ENOTDIR');
});
