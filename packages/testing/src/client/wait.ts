/** Waits for a condition of an object. */

import { type Goal, readGoal } from '@plat-dev/cli/objects/wait-args';
import type { AnyObject, Informer } from '@plat-dev/client/typed/types';
import { type Clock, FakeClock, systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { cut } from '@plat-dev/lib/message-values';
import { durationMillis } from '@plat-dev/lib/time';
import type { KeepAlive } from '../keep-alive.ts';
import type { ObjectChange } from '../requests.ts';
import type { WaitCondition, WaitOptions } from './types.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
/** A wait on a fake clock that is not advanced fails after this time of the machine's clock, or after its timeout if longer. */
const LEAST_REAL_TIME_MS = 30_000;
/** Characters of the last state that the error shows. */
const SHOWN_STATE = 4096;

/** Changes that the error shows, and characters of the line of one. */
const SHOWN_CHANGES = 10;
const SHOWN_LINE = 200;

/** The condition was not met before the timeout. */
export class WaitTimeout extends Error {
  /** The last state of the object; undefined if it did not exist. */
  readonly last: AnyObject | undefined;
  constructor(message: string, last: AnyObject | undefined) {
    super(message);
    this.name = 'WaitTimeout';
    this.last = last;
  }
}

export interface Waiting {
  /** `deployments.apps a/web`, for the error. */
  readonly what: string;
  readonly informer: Informer<AnyObject>;
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  /** The machine's clock. */
  readonly realClock?: Clock;
  /** The changes of the object, oldest first. */
  readonly changes?: () => readonly ObjectChange[];
  /** Calls when the server closes. Returns the function that cancels this. */
  readonly whenClosed: (call: () => void) => () => void;
}

/** Ends the informer. */
export function waitUntil(
  { what, informer, clock, keepAlive, realClock = systemClock, changes = () => [], whenClosed }: Waiting,
  condition: WaitCondition<AnyObject>,
  options: WaitOptions,
): Promise<AnyObject | undefined> {
  const goal = goalOf(condition);
  const { timeout = DEFAULT_TIMEOUT_MS } = options;
  const millis = typeof timeout === 'number' ? timeout : durationMillis(timeout);
  let last: AnyObject | undefined;
  let synced = false;
  const release = keepAlive.hold();
  return new Promise<AnyObject | undefined>((resolve, reject) => {
    const finish = (end: () => void): void => {
      release();
      cancel();
      cancelReal?.();
      forget();
      informer.stop();
      end();
    };
    const look = (): void => {
      if (!synced) return;
      try {
        if (goal.met(last)) finish(() => resolve(last));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const timedOut = (after: string): void => {
      const why = last === undefined ? 'it does not exist' : goal.distance(last);
      const state = last === undefined ? '' : `\nIts last state:\n${cut(jsonText(last, 2), SHOWN_STATE)}`;
      finish(() => reject(new WaitTimeout(`${what}: ${why} after ${after}${state}${historyText(changes())}`, last)));
    };
    const cancel = clock.after(millis, () => timedOut(`${millis} ms`));
    const realMillis = Math.max(millis, LEAST_REAL_TIME_MS);
    const cancelReal =
      clock instanceof FakeClock
        ? realClock.after(realMillis, () => timedOut(`${realMillis} ms of real time (the fake clock was not advanced by ${millis} ms)`))
        : undefined;
    const forget = whenClosed(() => finish(() => reject(new Error(`${what}: the server was closed during the wait`))));
    informer.onChange(({ type, object }) => {
      last = type === 'deleted' ? undefined : object;
      look();
    });
    informer.synced.then(
      () => {
        synced = true;
        look();
      },
      (error: unknown) => finish(() => reject(error)),
    );
  });
}

/** The last changes, oldest first: `08:30:00.000 changed by alice (patch status): status.phase`. */
function historyText(changes: readonly ObjectChange[]): string {
  if (changes.length === 0) return '';
  const lines = changes.slice(-SHOWN_CHANGES).map(({ type, time, user, verb, subresource, fields }) => {
    const request = verb === undefined ? '' : ` (${subresource ? `${verb} ${subresource}` : verb})`;
    const changedFields = type === 'changed' ? `: ${fields.join(', ')}` : '';
    return cut(`${time.toISOString().slice(11, 23)} ${type} by ${user ?? 'the server'}${request}${changedFields}`, SHOWN_LINE);
  });
  const left = changes.length - lines.length;
  return `\nIts history${left > 0 ? `, without ${left} earlier changes` : ''}:\n${lines.join('\n')}`;
}

function goalOf(condition: WaitCondition<AnyObject>): Pick<Goal, 'met' | 'distance'> {
  if (typeof condition === 'string') return readGoal(goalText(condition));
  return { met: (object) => condition(object as AnyObject | undefined), distance: () => 'the function did not return true' };
}
/** Expands the short forms. */
function goalText(text: string): string {
  if (text.startsWith('{') || text.startsWith('.')) return `jsonpath=${text}`;
  return /^[A-Za-z][\w./-]*$/.test(text) && text !== 'delete' && text !== 'create' ? `condition=${text}` : text;
}
