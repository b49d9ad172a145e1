import { getMaxListeners } from 'node:events';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { exitOnInterrupt, INTERRUPT_MS, interrupts, lendTerminal, MOST_REQUESTS } from './interrupt.ts';

test('the first interrupt aborts, the second one exits at once', () => {
  const io = testIO({ clock: new FakeClock() });
  const { signal, forget } = interrupts(io);
  io.send('SIGINT');
  expect([signal.aborted, io.exited]).toEqual([true, undefined]);
  io.send('SIGINT');
  expect(io.exited).toBe(130);
  forget();
});

test('many requests may listen at once: Node prints no warning about them', () => {
  const { signal, forget } = interrupts(testIO());
  expect(getMaxListeners(signal)).toBe(MOST_REQUESTS);
  forget();
});

test('a command that does not end is ended after two seconds, one that ends is not', async () => {
  const clock = new FakeClock();
  const io = testIO({ clock });
  const interrupted = interrupts(io);
  io.send('SIGTERM');
  expect(interrupted.code).toBe(143);
  await clock.advance(INTERRUPT_MS - 1);
  expect(io.exited).toBeUndefined();
  await clock.advance(1);
  expect(io.exited).toBe(143);

  const other = testIO({ clock });
  const ended = interrupts(other);
  other.send('SIGINT');
  ended.forget();
  await clock.advance(INTERRUPT_MS);
  expect(other.exited).toBeUndefined();
  expect(clock.pending).toBe(0);
});

test('interrupts are for the program that has the terminal; a termination is not', async () => {
  const io = testIO({ clock: new FakeClock() });
  const { signal, forget } = interrupts(io);
  await lendTerminal(io, async () => {
    io.send('SIGINT');
    io.send('SIGINT');
  });
  expect([signal.aborted, io.exited]).toEqual([false, undefined]);
  await expect(lendTerminal(io, () => Promise.reject(new Error('no such editor')))).rejects.toThrow('no such editor');
  io.send('SIGINT');
  expect(signal.aborted).toBe(true);
  forget();
  const other = interrupts(io);
  await lendTerminal(io, async () => io.send('SIGTERM'));
  expect(other.signal.aborted).toBe(true);
  other.forget();
});

test('what is read before anything is sent is left at once', async () => {
  const io = testIO();
  await exitOnInterrupt(io, async () => io.send('SIGINT'));
  expect(io.exited).toBe(130);
  io.exited = undefined;
  io.send('SIGINT');
  expect(io.exited).toBeUndefined();
});
