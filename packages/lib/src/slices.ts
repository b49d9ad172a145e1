/**
 * Long work in slices: between two of them other work on the event loop runs.
 *
 *   const slices = new Slices(() => ended(ctx));
 *   for (const item of many) {
 *     work(item);
 *     if (slices.due) await slices.pause();   // rejects with RequestEnded when nobody waits for the result any more
 *   }
 *
 * Only work that may be long has one: a function with an optional `slices` does everything at once without it.
 */

import { type Clock, systemClock } from './clock.ts';
import { inNextTurn, isTurnAwaited, nextTurn } from './next-turn.ts';
import { BoundedQueue } from './queue.ts';
import type { MaybePromise } from './when-ready.ts';

/**
 * Milliseconds of a counter that runs while work is done. It is the machine's: work takes its time even where the clock of a
 * server is held still.
 */
export const workTime = systemClock.monotonic;

/** Longest slice, in milliseconds. Well below the 50 ms for which a request may hold the loop, as the last step may be long. */
export const SLICE_MILLIS = 5;

/** Mostly short work that has lasted less than this is not put off for what others did in the turn: that costs more than to end it. */
const SHORT_MILLIS = 0.5;

/** Bodies and objects of more bytes than this are worked on in slices; less is mostly done before a slice would end. */
export const SLICED_FROM = 16 * 1024;

/** The client went away, or its time is up: the work is given up. Nobody is left to answer. */
export class RequestEnded extends Error {
  constructor(message = 'the request ended before its work was done') {
    super(message);
    this.name = 'RequestEnded';
  }
}

export class Slices {
  private readonly isEnded: () => boolean;
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly owner: object | undefined;
  private startedAt: number;

  /** `isEnded`: whether nobody waits for the result any more. `owner`: whose work it is (`next-turn.ts`). */
  constructor(isEnded: () => boolean = never, clock: Pick<Clock, 'monotonic'> = systemClock, owner?: object) {
    this.isEnded = isEnded;
    this.clock = clock;
    this.owner = owner;
    this.startedAt = clock.monotonic();
  }

  /** A slice begins now: what came before was the work of others. */
  begin(): void {
    this.startedAt = this.clock.monotonic();
  }

  /** The slice has just begun: whether it is due need not be asked yet where the work is mostly short. */
  get isShort(): boolean {
    return this.millis < SHORT_MILLIS;
  }
  private get millis(): number {
    return this.clock.monotonic() - this.startedAt;
  }

  /** The slice has lasted long enough, or others have used the turn. */
  get due(): boolean {
    return this.millis >= SLICE_MILLIS || (this.clock === systemClock && isTurnUsed());
  }

  /** Ends the slice; resolves when the next one may begin. Throws RequestEnded. */
  async pause(): Promise<void> {
    await nextTurn(this.owner);
    if (this.isEnded()) throw new RequestEnded();
    this.begin();
  }
}

/** When work that is counted together began in this turn of the event loop. */
let turnBegan: number | undefined;

/**
 * Whether the work of this turn has lasted for a slice, counted from the first question in the turn: many small pieces of work that
 * come together, each of which is too short for slices of its own. A turn lasts from one round of immediates to the next, as long work
 * goes on in them: counted from round to round of timers, the loop has parts of two. Otherwise requests that use up every turn before
 * its immediates would leave one step in each to long work.
 */
export function isTurnUsed(): boolean {
  if (turnBegan !== undefined) return workTime() - turnBegan >= SLICE_MILLIS;
  turnBegan = workTime();
  inNextTurn(() => {
    turnBegan = undefined;
  });
  return false;
}

/**
 * For a short piece of work: goes on at once, or, where others have used the turn, in a later one, one piece in each. `owner`: whose work
 * it is (`next-turn.ts`).
 *
 *   await turnWithTime();
 *   work(answer);
 */
export function turnWithTime(owner?: object): MaybePromise<void> {
  return isTurnUsed() ? nextTurn(owner) : undefined;
}

/** More than controllers have requests at a time; one beyond it is called at once. */
const deferredCalls = new BoundedQueue<() => void>(100_000);

/** Calls now, or in the first later turn that has time for it: in order, and at least one in each turn. */
export function whenTurnHasTime(call: () => void): void {
  if ((deferredCalls.length === 0 && !isTurnUsed()) || !deferredCalls.push(call)) call();
  else if (deferredCalls.length === 1) inNextTurn(callLate);
}
/** Whether work waits for a turn that has time for it. */
export const isWorkWaiting = (): boolean => deferredCalls.length > 0 || isTurnAwaited();

function callLate(): void {
  // At least one is called in a turn that others have used, and its own time counts.
  isTurnUsed();
  do deferredCalls.shift()?.();
  while (deferredCalls.length > 0 && !isTurnUsed());
  if (deferredCalls.length > 0) inNextTurn(callLate);
}

/** Work that yields wherever it may be interrupted, and a promise where it goes on only after that. */
export type Work<T> = Generator<Promise<unknown> | undefined, T, void>;

/** Work of which nothing is left but its result. */
// biome-ignore lint/correctness/useYield: there is nothing to interrupt.
export function* noWork<T>(result: T): Work<T> {
  return result;
}

/** Runs work to its end without ever giving way. Throws where the work waits for something. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (step.value !== undefined) throw new Error('work that waits for a promise cannot be done at once: use inSlices');
  }
}

/** Runs work to its end in slices. Throws RequestEnded. */
export async function inSlices<T>(work: Work<T>, slices: Slices): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (step.value !== undefined) {
      await step.value;
      slices.begin();
    } else if (slices.due) await slices.pause();
  }
}

/** The result of work: at once without slices, as for small inputs, else in slices. */
export function resultOf<T>(work: Work<T>, slices: Slices | undefined): MaybePromise<T> {
  return slices === undefined ? atOnce(work) : inSlices(work, slices);
}

/** The same for work that is mostly short: what is done within one slice takes no promise. */
export function soonOrInSlices<T>(work: Work<T>, slices = new Slices()): MaybePromise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (step.value !== undefined || (!slices.isShort && slices.due)) return pausedBefore(work, slices, step.value);
  }
}
async function pausedBefore<T>(work: Work<T>, slices: Slices, awaited: Promise<unknown> | undefined): Promise<T> {
  await awaited;
  await slices.pause();
  return inSlices(work, slices);
}

const never = (): boolean => false;
