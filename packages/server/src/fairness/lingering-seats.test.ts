import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { type FairQueue, type Holder, Level } from './level.ts';
import { LingeringSeats } from './lingering-seats.ts';

function world() {
  const clock = new FakeClock();
  const level = new Level('test', { uid: 'u', exempt: false, limit: 100, queues: 4, handSize: 1, queueLengthLimit: 3 });
  const lingering = new LingeringSeats(clock);
  /** A change that ran, and whose seats stay taken for so long. */
  const change = (seats: number, millis: number): void => {
    const holder: Holder = {
      seats: 0,
      runningSeats: 0,
      seatQueue: undefined as FairQueue | undefined,
      seatSince: 0,
      seatFinalMs: 0,
      seatOvertook: false,
      olderSeat: undefined,
      newerSeat: undefined,
    };
    level.enter(holder, [level.queue(0)], { seats: 1, finalSeats: seats, finalMs: millis }, clock.monotonic());
    const { seatQueue } = holder;
    level.finish(holder, clock.monotonic(), true);
    lingering.add(level, seatQueue, seats, false, clock.monotonic(), millis);
  };
  return { clock, level, lingering, change };
}

test('seats are free when their time is over, whatever the order in which they were taken', async () => {
  const { clock, level, change } = world();
  change(3, 20);
  change(5, 7);
  change(7, 7);
  change(11, 500);
  await clock.advance(6);
  expect(level.seatsInUse).toBe(26);
  await clock.advance(1);
  expect(level.seatsInUse).toBe(14);
  change(2, 1);
  await clock.advance(1);
  expect(level.seatsInUse).toBe(14);
  await clock.advance(12);
  expect(level.seatsInUse).toBe(11);
  await clock.advance(480);
  expect([level.seatsInUse, level.idle, level.busy.length, clock.pending]).toEqual([0, true, 0, 0]);
});

test('one timer is set, whatever the number of changes', async () => {
  const { clock, lingering, change } = world();
  for (let i = 0; i < 50; i++) change(1, 5 + (i % 7));
  expect([lingering.size, clock.pending]).toEqual([50, 1]);
  lingering.close();
  expect([lingering.size, clock.pending]).toEqual([0, 0]);
});
