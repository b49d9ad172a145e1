import { describe, expect, it } from 'vitest';
import { heldWorkTime } from './slices.testing.ts';
import {
  atOnce,
  inSlices,
  isTurnUsed,
  RequestEnded,
  SLICE_MILLIS,
  Slices,
  soonOrInSlices,
  turnWithTime,
  type Work,
  whenTurnHasTime,
} from './slices.ts';

/** A counter that a test moves. */
const still = () => {
  const clock = { at: 0, monotonic: () => clock.at };
  return clock;
};

describe('slices of long work', () => {
  it('are due after their time, and begin anew after a pause', async () => {
    const clock = still();
    const slices = new Slices(undefined, clock);
    clock.at = SLICE_MILLIS - 1;
    expect(slices.due).toBe(false);
    clock.at = SLICE_MILLIS;
    expect(slices.due).toBe(true);
    await slices.pause();
    expect(slices.due).toBe(false);
  });

  it('let others have their turn in between', async () => {
    const seen: string[] = [];
    const slices = new Slices();
    setImmediate(() => seen.push('other'));
    await slices.pause();
    seen.push('work');
    expect(seen).toEqual(['other', 'work']);
  });

  it('end at the next pause when nobody waits for the result', async () => {
    let ended = false;
    const slices = new Slices(() => ended);
    await slices.pause();
    ended = true;
    await expect(slices.pause()).rejects.toThrow(RequestEnded);
  });

  it('take no promise for work that is done within the first', async () => {
    const clock = still();
    function* work(millisOfStep: number): Work<string> {
      for (let i = 0; i < 10; i++) {
        clock.at += millisOfStep;
        yield;
      }
      return 'done';
    }
    expect(soonOrInSlices(work(0), new Slices(undefined, clock))).toBe('done');
    const later = soonOrInSlices(work(SLICE_MILLIS), new Slices(undefined, clock));
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe('done');
  });

  it('wait for what work waits for, which cannot be done at once', async () => {
    function* work(): Work<string> {
      let value = 'nothing';
      yield;
      yield Promise.resolve().then(() => {
        value = 'loaded';
      });
      yield;
      return value;
    }
    const clock = still();
    expect(await soonOrInSlices(work(), new Slices(undefined, clock))).toBe('loaded');
    expect(await inSlices(work(), new Slices(undefined, clock))).toBe('loaded');
    expect(() => atOnce(work())).toThrow('waits for a promise');
    function* failing(): Work<void> {
      yield Promise.reject(new Error('not found'));
    }
    await expect(soonOrInSlices(failing(), new Slices(undefined, clock))).rejects.toThrow('not found');
  });
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn of the event loop', () => {
  const workTime = heldWorkTime();
  const long = (): void => workTime.pass(SLICE_MILLIS);

  it('is used after a slice, whoever used it, and the next is new', async () => {
    await turn();
    expect(isTurnUsed()).toBe(false);
    long();
    expect(isTurnUsed()).toBe(true);
    expect(new Slices().due).toBe(true);
    await turn();
    expect(isTurnUsed()).toBe(false);
  });

  it('is not waited for by work that is mostly short, until that has lasted a while', async () => {
    await turn();
    isTurnUsed();
    long();
    function* short(steps: number, millis: number): Work<string> {
      for (let step = 0; step < steps; step++) {
        workTime.pass(millis);
        yield;
      }
      return 'done';
    }
    expect(soonOrInSlices(short(3, 0.1))).toBe('done');
    const longer = soonOrInSlices(short(10, 0.1));
    expect(longer).toBeInstanceOf(Promise);
    expect(await longer).toBe('done');
  });

  it('has room for calls until it is used; the others are called in later turns, in order', async () => {
    await turn();
    const called: string[] = [];
    whenTurnHasTime(() => called.push('short'));
    for (const name of ['a', 'b', 'c'])
      whenTurnHasTime(() => {
        called.push(name);
        long();
      });
    whenTurnHasTime(() => called.push('last'));
    expect(called).toEqual(['short', 'a']);
    await turn();
    expect(called).toEqual(['short', 'a', 'b']);
    await turn();
    expect(called).toEqual(['short', 'a', 'b', 'c']);
    await turn();
    expect(called).toEqual(['short', 'a', 'b', 'c', 'last']);
  });

  it('lets work after an answer go on until it is used; the rest goes on in later turns, one piece in each', async () => {
    await turn();
    const called: string[] = [];
    const piece = async (name: string): Promise<void> => {
      await turnWithTime();
      called.push(name);
      long();
    };
    expect(isTurnUsed()).toBe(false);
    const first = piece('a');
    await first;
    const rest = [piece('b'), piece('c')];
    await Promise.resolve();
    expect(called).toEqual(['a']);
    await turn();
    expect(called).toEqual(['a', 'b']);
    await turn();
    expect(called).toEqual(['a', 'b', 'c']);
    await Promise.all(rest);
  });
});
