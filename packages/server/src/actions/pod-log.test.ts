import { PassThrough } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { readProblem } from './pod-log.ts';

const clock = new FakeClock();
const limits = { clock, answerMs: 1000 };

test('an error text that is too long is cut short', async () => {
  const answer = new PassThrough();
  const problem = readProblem(answer, limits);
  answer.write('no such ');
  await clock.advance(999);
  expect(answer.destroyed).toBe(false);
  answer.write('container');
  await clock.advance(0);
  await clock.advance(1);
  expect([await problem, answer.destroyed, clock.pending]).toEqual(['no such container', true, 0]);
});

test('an error text that breaks off, or is too long', async () => {
  const broken = new PassThrough();
  broken.write('no');
  const problem = readProblem(broken, limits);
  await clock.advance(0);
  broken.destroy(new Error('reset'));
  expect(await problem).toBe('no');
  const long = new PassThrough();
  for (let i = 0; i < 6; i++) long.write('x'.repeat(10_000));
  expect((await readProblem(long, limits)).length).toBe(50_000);
  expect(clock.pending).toBe(0);
});
