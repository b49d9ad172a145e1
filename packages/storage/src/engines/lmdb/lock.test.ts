import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { beforeEach, expect, test } from 'vitest';
import { lockDirectory, lockPipe, pipeName } from './lock.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory('plat-lock');
});
const locks = (): string[] => readdirSync(directory).filter((name) => name.startsWith('store.lock'));

/** Another server, of which only its socket is there. */
async function another(name: string, answer: string): Promise<Server> {
  const server = createServer((connection) => connection.end(answer));
  await new Promise<void>((resolve) => server.listen(join(directory, name), resolve));
  return server;
}
const closed = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

test('of many that start at once exactly one gets the directory, time and again', async () => {
  for (let round = 0; round < 30; round++) {
    writeFileSync(join(directory, 'store.lock'), '');
    writeFileSync(join(directory, `store.lock-${round}`), '');
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
    const held = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(held, `round ${round}`).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toContain(`is in use by another server (process ${process.pid})`);
    expect(locks()).toHaveLength(1);
    await held[0]?.release();
    expect(locks()).toEqual([]);
  }
});

test('sockets that a crash left are removed, also those of a server that had only begun', async () => {
  for (const name of ['store.lock', 'store.lock-a', 'store.locking-b']) writeFileSync(join(directory, name), '');
  const lock = await lockDirectory(directory);
  expect(locks()).toEqual([expect.stringMatching(/^store\.lock-[0-9a-f-]{36}$/)]);
  await lock.release();
});

test.each([
  ['store.lock', '17', ' (process 17)'],
  ['store.lock', '', ''],
  ['store.lock-a', '18', ' (process 18)'],
])('a server that holds the directory by %s and answers "%s" is respected', async (name, answer, named) => {
  const server = await another(name, answer);
  await expect(lockDirectory(directory)).rejects.toThrow(`the data directory ${directory} is in use by another server${named}; stop`);
  expect(locks()).toEqual([name]);
  await closed(server);
  await (await lockDirectory(directory)).release();
});

test('of two that start the one with the lower name waits, until the other has given up', async () => {
  const world = { clock: systemClock, random: seededRandom(1) };
  const lower = await another('store.lock-0', '19 starting');
  await expect(lockDirectory(directory, world)).rejects.toThrow('is in use by another server (process 19)');
  await closed(lower);

  const higher = await another('store.lock-z', '20 starting');
  let looks = 0;
  const clock = {
    ...systemClock,
    sleep: async () => {
      if (++looks === 3) await closed(higher);
    },
  };
  const lock = await lockDirectory(directory, { ...world, clock });
  expect(looks).toBe(3);
  await lock.release();
});

test('one that starts and never ends its start is given up on', async () => {
  const server = await another('store.lock-z', '21 starting');
  let looks = 0;
  const sleep = async (): Promise<void> => void looks++;
  await expect(lockDirectory(directory, { clock: { ...systemClock, sleep }, random: seededRandom(1) })).rejects.toThrow('(process 21)');
  expect(looks).toBe(999);
  await closed(server);
});

test('a long path is no hindrance', async () => {
  directory = join(directory, 'd'.repeat(100));
  mkdirSync(directory);
  const lock = await lockDirectory(directory);
  await expect(lockDirectory(directory)).rejects.toThrow('is in use');
  await lock.release();
  expect(locks()).toEqual([]);
});

test('a pipe of Windows is the lock of its directory, whatever case its name has', async () => {
  expect(pipeName('C:\\Data')).toBe(pipeName('c:\\data'));
  expect(pipeName('C:\\data')).not.toBe(pipeName('C:\\other'));
  expect(pipeName('C:\\data')).toMatch(/^\\\\\.\\pipe\\plat-[0-9a-f]{32}$/);
});

test('a pipe has one listener, which is named to others, and is free when it ends', async () => {
  // A socket stands in: it, too, has one listener at most.
  const pipe = join(directory, 'pipe');
  const lock = await lockPipe(pipe, 'C:\\data');
  await expect(lockPipe(pipe, 'C:\\data')).rejects.toThrow(
    `the data directory C:\\data is in use by another server (process ${process.pid})`,
  );
  await lock.release();
  await (await lockPipe(pipe, 'C:\\data')).release();
  await expect(lockPipe(join(directory, 'absent', 'pipe'), 'C:\\data')).rejects.toThrow('cannot be locked');
});
