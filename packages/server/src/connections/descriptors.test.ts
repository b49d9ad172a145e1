import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { DESCRIPTORS_WAIT_MS, isExhausted, withDescriptors } from './descriptors.ts';

const exhausted = (): Error => Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });

test('what finds no descriptor is tried again until it does', async () => {
  const clock = new FakeClock();
  let attempts = 0;
  const notices: unknown[] = [];
  const done = withDescriptors(
    async () => {
      if (++attempts < 4) throw new Error('the file cannot be opened', { cause: exhausted() });
      return 'opened';
    },
    (error) => notices.push(error),
    clock,
  );
  for (let i = 0; i < 3; i++) {
    await new Promise(setImmediate);
    await clock.advance(200);
  }
  expect(await done).toBe('opened');
  expect(attempts).toBe(4);
  expect(notices).toHaveLength(1);
});

test('it is given up after a time, with what to do; other errors are not retried', async () => {
  const clock = new FakeClock();
  const done = withDescriptors(() => Promise.reject(exhausted()), undefined, clock).catch((error: Error) => error.message);
  for (let waited = 0; waited <= DESCRIPTORS_WAIT_MS; waited += 200) {
    await new Promise(setImmediate);
    await clock.advance(200);
  }
  expect(await done).toMatch(/no file descriptors were free for 30 seconds .*ulimit -n/);
  await expect(withDescriptors(() => Promise.reject(new Error('other')), undefined, clock)).rejects.toThrow('other');
  expect(isExhausted(new Error('x'))).toBe(false);
});
