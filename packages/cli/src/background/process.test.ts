import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { isRunning, type ProcessId, processOf, stopProcess } from './process.ts';

/** A process that says when it is there. */
async function child(program: string): Promise<{ id: ProcessId; ended: Promise<unknown[]> }> {
  const started = spawn(process.execPath, ['-e', `${program}; setInterval(() => {}, 1000); console.log('up')`]);
  const ended = once(started, 'exit');
  await once(started.stdout, 'data');
  return { id: processOf(started.pid as number) as ProcessId, ended };
}

test('a process is known by its number and start time', async () => {
  const own = processOf(process.pid) as ProcessId;
  expect(processOf(process.pid)).toEqual(own);
  expect(isRunning(own)).toBe(true);
  expect(isRunning({ ...own, started: 'earlier' })).toBe(false);
  expect(processOf(2 ** 30)).toBeUndefined();
});

test('a process is ended by SIGTERM; one that is another by now is left alone', async () => {
  const { id, ended } = await child('');
  await stopProcess({ ...id, started: 'earlier' }, systemClock);
  expect(isRunning(id)).toBe(true);
  await stopProcess(id, systemClock);
  expect(await ended).toEqual([null, 'SIGTERM']);
  await stopProcess(id, systemClock);
});

test('one that does not end is killed when its time is over', async () => {
  const { id, ended } = await child("process.on('SIGTERM', () => {})");
  let asked = 0;
  // The first reading sets the deadline, those behind it are beyond it.
  const clock = { ...systemClock, monotonic: () => (asked++ === 0 ? 0 : 20_000) };
  await stopProcess(id, clock);
  expect(await ended).toEqual([null, 'SIGKILL']);
});

test('one that SIGKILL does not end is reported, in bounded time', async () => {
  const sent: string[] = [];
  const clock = new FakeClock(0);
  const control = {
    isRunning: () => true,
    send: (pid: number, signal: string) => void sent.push(`${pid} ${signal} at ${clock.monotonic()}`),
  };
  const stopped = expect(stopProcess({ pid: 7, started: 'x' }, clock, control)).rejects.toThrow(
    'process 7 still runs 5 seconds after SIGKILL',
  );
  await clock.advance(20_000);
  await stopped;
  expect(sent).toEqual(['7 SIGTERM at 0', '7 SIGKILL at 15000']);
});
