import { EventEmitter } from 'node:events';
import { FakeClock } from '@plat-dev/lib/clock';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { MAX_CHANGED_OBJECTS, MIN_SPACING_MS, OpenStreams, RECHECK_MS, SETTLE_MS, UNCHECKED_MS, type Verdict } from './open-streams.ts';

interface World {
  readonly clock: FakeClock;
  readonly streams: OpenStreams;
  readonly checked: string[];
  readonly ended: string[];
  readonly verdicts: Map<string, MaybePromise<Verdict>>;
  turns(): number;
  open(name: string, more?: Partial<Context>): Context;
}

function world(): World {
  const clock = new FakeClock();
  const checked: string[] = [];
  const ended: string[] = [];
  const verdicts = new Map<string, MaybePromise<Verdict>>();
  let turns = 0;
  const streams = new OpenStreams({
    clock,
    check: async ({ auditId }) => {
      checked.push(auditId);
      return verdicts.get(auditId) ?? 'allowed';
    },
    concerns: ({ auditId }, objects) => objects.has(auditId),
    yieldTurn: async () => void turns++,
    ended: () => {},
  });
  const open = (auditId: string, more: Partial<Context> = {}): Context => {
    const res = { destroyed: false, once: () => {}, destroy: () => void ended.push(`${auditId} broken`) };
    const ctx = { auditId, longRunning: true, end: () => void ended.push(auditId), res, ...more } as unknown as Context;
    streams.step(ctx);
    return ctx;
  };
  return { clock, streams, checked, ended, verdicts, turns: () => turns, open };
}

test('requests that do not go on, those of this process and those that are over are not kept', () => {
  const { streams, open } = world();
  open('short', { longRunning: false });
  open('own', { inProcess: true });
  open('over', { finished: true });
  expect(streams.size).toBe(0);
  const tunnel = open('tunnel', { longRunning: false, upgrade: {} as Context['upgrade'] });
  expect(streams.size).toBe(1);
  for (const done of tunnel.onFinished ?? []) done(tunnel);
  expect(streams.size).toBe(0);
});

test('a change has all looked at once, soon; what is no longer allowed ends, and is not looked at again', async () => {
  const { clock, streams, checked, ended, verdicts, open } = world();
  open('a');
  open('b');
  open('c', { end: undefined });
  verdicts.set('b', 'ended').set('c', Promise.resolve('ended'));
  for (let i = 0; i < 50; i++) streams.changed();
  await clock.advance(SETTLE_MS - 1);
  expect(checked).toEqual([]);
  await clock.advance(1);
  expect(checked).toEqual(['a', 'b', 'c']);
  expect(ended).toEqual(['b', 'c broken']);
  expect(streams.size).toBe(1);
});

test('changes without end cost one sweep in so much time', async () => {
  const { clock, streams, checked, open } = world();
  open('a');
  for (let i = 0; i < 100; i++) {
    streams.changed();
    await clock.advance(50);
  }
  expect(checked.length).toBeLessThanOrEqual(Math.ceil(5000 / MIN_SPACING_MS) + 1);
  expect(checked.length).toBeGreaterThanOrEqual(4);
});

test('credentials are looked at again after a while, with no change', async () => {
  const { clock, checked, ended, verdicts, open } = world();
  open('a');
  await clock.advance(RECHECK_MS);
  expect(checked).toEqual(['a']);
  verdicts.set('a', 'ended');
  await clock.advance(RECHECK_MS);
  expect(ended).toEqual(['a']);
});

test('an object that a credential names has changed: those whom it concerns are looked at', async () => {
  const { clock, streams, checked, ended, verdicts, open } = world();
  open('a');
  open('b');
  verdicts.set('a', 'ended').set('b', 'ended');
  streams.objectChanged('b');
  streams.objectChanged('nobody');
  await clock.advance(SETTLE_MS);
  expect([checked, ended]).toEqual([['b'], ['b']]);
  streams.objectChanged('nobody');
  await clock.advance(MIN_SPACING_MS + SETTLE_MS);
  expect(checked).toEqual(['b']);
  // Rights of all changed as well.
  streams.objectChanged('nobody');
  streams.changed();
  await clock.advance(MIN_SPACING_MS + SETTLE_MS);
  expect(checked).toEqual(['b', 'a']);
});

test('so many objects change that all streams are looked at', async () => {
  const { clock, streams, checked, open } = world();
  open('a');
  for (let i = 0; i < MAX_CHANGED_OBJECTS; i++) streams.objectChanged(`o${i}`);
  await clock.advance(SETTLE_MS);
  expect(checked).toEqual([]);
  for (let i = 0; i <= MAX_CHANGED_OBJECTS; i++) streams.objectChanged(`o${i}`);
  await clock.advance(MIN_SPACING_MS + SETTLE_MS);
  expect(checked).toEqual(['a']);
});

test('a change that waits for its sweep is not lost when another sweep begins first', async () => {
  const { clock, streams, verdicts, checked, ended, open } = world();
  open('a');
  let answer: (verdict: Verdict) => void = () => {};
  verdicts.set(
    'a',
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  await clock.advance(RECHECK_MS - 50);
  streams.changed();
  await clock.advance(50);
  expect(checked).toEqual(['a']);
  // The answer that is on its way was made before this change; the planned sweep comes while it is waited for.
  streams.objectChanged('a');
  await clock.advance(SETTLE_MS);
  verdicts.set('a', 'ended');
  answer('allowed');
  await clock.advance(0);
  await clock.advance(MIN_SPACING_MS + SETTLE_MS);
  expect([checked, ended]).toEqual([['a', 'a'], ['a']]);
});

test('where whoever decides cannot be asked, a stream goes on for some minutes, counted from the last answer', async () => {
  const { clock, ended, verdicts, open } = world();
  open('a');
  const unknown = Promise.resolve<Verdict>('unknown');
  verdicts.set('a', unknown);
  await clock.advance(UNCHECKED_MS);
  expect(ended).toEqual([]);
  verdicts.set('a', 'allowed');
  await clock.advance(RECHECK_MS);
  verdicts.set('a', unknown);
  await clock.advance(UNCHECKED_MS);
  expect(ended).toEqual([]);
  await clock.advance(RECHECK_MS);
  expect(ended).toEqual(['a']);
});

test('many are looked at in slices, and no more than a few answers are waited for at once', async () => {
  const { clock, streams, verdicts, checked, turns, open } = world();
  for (let i = 0; i < 1000; i++) open(`s${i}`);
  await clock.advance(RECHECK_MS);
  expect([checked.length, turns()]).toEqual([1000, 10]);
  checked.length = 0;
  let answer: (verdict: Verdict) => void = () => {};
  const remote = new Promise<Verdict>((resolve) => {
    answer = resolve;
  });
  for (let i = 0; i < 1000; i++) verdicts.set(`s${i}`, remote);
  await clock.advance(RECHECK_MS);
  expect(checked.length).toBe(32);
  // A change meanwhile is not forgotten, and does not begin a second sweep beside the first.
  streams.changed();
  await clock.advance(RECHECK_MS);
  expect(checked.length).toBe(32);
  answer('allowed');
  await clock.advance(0);
  expect(checked.length).toBe(1000);
  await clock.advance(MIN_SPACING_MS + SETTLE_MS);
  expect(checked.length).toBe(2000);
  streams.close();
  expect(clock.pending).toBe(0);
});

test('what goes on for a client that closes its side ends', () => {
  const { ended, open } = world();
  const answer = (more = {}): EventEmitter =>
    Object.assign(new EventEmitter(), { destroyed: false, destroy: () => void ended.push('broken'), ...more });
  const watch = answer();
  open('watch', { res: watch as never });
  const tunnel = answer();
  open('tunnel', { res: tunnel as never, end: undefined });
  expect(ended).toEqual([]);
  watch.emit('left');
  tunnel.emit('left');
  expect(ended).toEqual(['watch', 'broken']);
  // It did so before.
  open('late', { res: answer({ isHalfClosed: true }) as never });
  expect(ended).toEqual(['watch', 'broken', 'late']);
});
