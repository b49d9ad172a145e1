import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FakeClock } from '../../lib/clock.ts';
import { readComplaint } from './pod-log.ts';

const clock = new FakeClock();
const limits = { clock, answerMs: 1000 };

test('a complaint that goes on for too long is cut short', async () => {
  const answer = new PassThrough();
  const complaint = readComplaint(answer, limits);
  answer.write('no such ');
  await clock.advance(999);
  expect(answer.destroyed).toBe(false);
  answer.write('container');
  await clock.advance(0);
  await clock.advance(1);
  expect([await complaint, answer.destroyed, clock.pending]).toEqual(['no such container', true, 0]);
});

test('a complaint that breaks off, or is too long', async () => {
  const broken = new PassThrough();
  broken.write('no');
  const complaint = readComplaint(broken, limits);
  await clock.advance(0);
  broken.destroy(new Error('reset'));
  expect(await complaint).toBe('no');
  const long = new PassThrough();
  for (let i = 0; i < 6; i++) long.write('x'.repeat(10_000));
  expect((await readComplaint(long, limits)).length).toBe(50_000);
  expect(clock.pending).toBe(0);
});
