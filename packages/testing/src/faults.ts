/**
 * Faults on demand. Each begins at once, and ends with `remove()` or with the server:
 *
 *   const fault = server.faults.refuse({ verb: 'create', resource: 'pods', nth: 2 }, 503);
 *   server.faults.delay({ resource: 'leases' }, '5s');
 *   server.faults.drop({ verb: 'watch', resource: 'pods' }, { afterEvents: 3 });
 *   server.faults.conflict({ resource: 'deployments' }, 3);      // the next three updates
 *   server.faults.webhook('check.example.com');
 *   fault.count;                                                  // how often it was applied
 */

import type { Clock } from '@plat-dev/lib/clock';
import { ApiError, conflict, serviceUnavailable } from '@plat-dev/meta/errors';
import type { Context } from '@plat-dev/server/context';
import { takesFrames } from '@plat-dev/server/in-process';
import type { Activity } from './activity.ts';
import { millisecondsOf } from './clock.ts';
import { checkPattern, matches, type RequestPattern } from './pattern.ts';
import { ASSERTING_USER } from './users.ts';

export interface FaultPattern extends RequestPattern {
  /** Which of the matching requests: the second, or several; default: all. */
  readonly nth?: number | readonly number[] | undefined;
}

export interface RefusedWith {
  readonly code: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export interface Fault {
  /** Requests, or calls, that matched so far. */
  readonly matched: number;
  /** How often it was applied. */
  readonly count: number;
  /** A description of the fault. */
  readonly description: string;
  /** Ends it. May be called more than once. */
  remove(): void;
}

export interface Faults {
  /** Refuses requests with a status; default 503. */
  refuse(pattern: FaultPattern, status?: number | RefusedWith): Fault;
  /** Delays requests, by the clock of the server. */
  delay(pattern: FaultPattern, by: string | number): Fault;
  /** Drops connections: at once, or a watch after so many events. */
  drop(pattern: FaultPattern, choice?: { readonly afterEvents?: number }): Fault;
  /** Refuses so many updates, patches and deletions with a conflict, as after another write; default: the next one. */
  conflict(pattern: FaultPattern, times?: number): Fault;
  /** Makes calls of an admission webhook fail, or of all webhooks without a name; the webhook is not called. */
  webhook(name?: string, choice?: { readonly message?: string }): Fault;
  /** Faults that were never applied. */
  unused(): readonly Fault[];
  /** Removes all faults. */
  clear(): void;
}

/** Limit of faults at a time; one more is an error of the test. */
const MOST_FAULTS = 1000;
const changing: ReadonlySet<string> = new Set(['update', 'patch', 'delete']);

interface Rule extends Fault {
  matched: number;
  count: number;
  readonly nth: ReadonlySet<number> | undefined;
  /** How often to apply it at most. */
  readonly times: number;
  /** Undefined for those of webhooks. */
  readonly pattern: RequestPattern | undefined;
  readonly webhook: string | undefined;
  strike(ctx: Context, rule: Rule): Promise<void>;
}

/** A request that a fault delays. */
interface Delayed {
  readonly rule: Rule;
  /** Lets the request proceed. */
  proceed(): void;
  /** The request never proceeds: its client is gone. */
  cancel(): void;
}

export class TestFaults implements Faults {
  private readonly rules = new Set<Rule>();
  /** Requests that wait, each for one delay at a time. */
  private readonly delayed = new Map<Context, Delayed>();
  private readonly activity: Activity;
  private clock: Clock | undefined;

  constructor(activity: Activity) {
    this.activity = activity;
  }
  /** The clock of the server, by which requests wait. */
  use(clock: Clock): void {
    this.clock = clock;
  }

  refuse(pattern: FaultPattern, status: number | RefusedWith = 503): Fault {
    const { code, reason, message } = typeof status === 'number' ? { code: status } : (status as RefusedWith);
    if (!(code >= 400 && code <= 599)) throw new Error(`a request is refused with a code of 400 to 599, not with ${code}`);
    return this.add(`refuse ${patternText(pattern)} with ${code}`, pattern, async (ctx) => {
      const text = message ?? `refused by a fault of the test: ${ctx.info.verb} ${ctx.info.resource || ctx.path}`;
      throw code === 503 && reason === undefined ? serviceUnavailable(text) : new ApiError(code, reason ?? reasons.get(code) ?? '', text);
    });
  }
  delay(pattern: FaultPattern, by: string | number): Fault {
    const millis = millisecondsOf(by);
    return this.add(`delay ${patternText(pattern)} by ${by}`, pattern, async (ctx, rule) => {
      if (this.clock !== undefined) await this.activity.waits(ctx, this.wait(this.clock, ctx, rule, millis));
    });
  }
  drop(pattern: FaultPattern, { afterEvents }: { readonly afterEvents?: number } = {}): Fault {
    if (afterEvents === undefined)
      return this.add(`drop ${patternText(pattern)}`, pattern, async (ctx) => {
        breakOff(ctx);
        // The client is gone.
        return new Promise(() => {});
      });
    return this.add(`drop ${patternText(pattern)} after ${afterEvents} events`, { verb: 'watch', ...pattern }, async (ctx, rule) =>
      cutAfter(ctx, afterEvents, () => this.rules.has(rule)),
    );
  }
  conflict(pattern: FaultPattern, times = 1): Fault {
    const strike = async ({ info: { group, resource, name } }: Context): Promise<void> => {
      throw conflict(
        { group, resource },
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    };
    return this.add(`conflict of ${patternText(pattern)}`, { verb: [...changing], ...pattern }, strike, times);
  }
  webhook(name?: string, { message = 'broken by a fault of the test' }: { readonly message?: string } = {}): Fault {
    const rule = this.add(`webhook ${name ?? '(any)'}`, undefined, async () => {}, undefined, name ?? '');
    this.webhookMessages.set(rule as Rule, message);
    return rule;
  }
  private readonly webhookMessages = new WeakMap<Rule, string>();
  unused(): readonly Fault[] {
    return [...this.rules].filter(({ count }) => count === 0);
  }
  clear(): void {
    for (const rule of [...this.rules]) this.remove(rule);
  }
  /** The request has finished, with or without a response. */
  end(ctx: Context): void {
    this.delayed.get(ctx)?.cancel();
  }
  /** Ends all delays when the server closes. */
  close(): void {
    this.rules.clear();
    for (const { cancel } of [...this.delayed.values()]) cancel();
  }
  private remove(rule: Rule): void {
    this.rules.delete(rule);
    for (const { rule: by, proceed } of [...this.delayed.values()]) if (by === rule) proceed();
  }
  private wait(clock: Clock, ctx: Context, rule: Rule, millis: number): Promise<void> {
    return new Promise((resolve) => {
      const proceed = (): void => {
        cancel();
        resolve();
      };
      const cancelTimer = clock.after(millis, proceed, true);
      const cancel = (): void => {
        cancelTimer();
        this.delayed.delete(ctx);
      };
      this.delayed.set(ctx, { rule, proceed, cancel });
    });
  }

  get none(): boolean {
    return this.rules.size === 0;
  }
  /**
   * Applies all faults that match the request, in the order in which they were added. Reads of assertions have no faults: those
   * are for the program under test.
   */
  async apply(ctx: Context): Promise<void> {
    if (ctx.user.name === ASSERTING_USER) return;
    for (const rule of [...this.rules]) {
      // A fault that was removed while the request waited for an earlier one is not applied.
      if (!this.rules.has(rule) || rule.pattern === undefined || !matches(rule.pattern, ctx) || !strikes(rule)) continue;
      await rule.strike(ctx, rule);
    }
  }
  /** Throws where calls of the webhook fail. */
  applyToWebhook(name: string): void {
    for (const rule of this.rules)
      if (rule.webhook !== undefined && (rule.webhook === '' || rule.webhook === name) && strikes(rule))
        throw new Error(this.webhookMessages.get(rule));
  }

  private add(
    description: string,
    pattern: FaultPattern | undefined,
    strike: Rule['strike'],
    times = Number.POSITIVE_INFINITY,
    webhook?: string,
  ): Fault {
    if (this.rules.size >= MOST_FAULTS)
      throw new Error(`a server has at most ${MOST_FAULTS} faults: remove() those that are not needed any more`);
    checkPattern(pattern ?? {}, ['nth']);
    const { nth, ...rest } = pattern ?? {};
    const rule: Rule = {
      matched: 0,
      count: 0,
      description,
      nth: nth === undefined ? undefined : new Set(typeof nth === 'number' ? [nth] : nth),
      times,
      pattern: pattern && rest,
      webhook,
      strike,
      remove: () => this.remove(rule),
    };
    this.rules.add(rule);
    return rule;
  }
}

/** Counts a match. Returns whether to apply the fault. */
function strikes(rule: Rule): boolean {
  rule.matched++;
  if (rule.count >= rule.times || (rule.nth !== undefined && !rule.nth.has(rule.matched))) return false;
  rule.count++;
  return true;
}

/** Reasons of Status that clients expect with a code. */
const reasons: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

function breakOff({ req, res, http2 }: Context): void {
  if (!http2 && !takesFrames(res)) req.socket.destroy();
  else res.destroy();
}

/** Sends the first events, then drops the connection, unless the fault was removed. */
function cutAfter(ctx: Context, events: number, isActive: () => boolean): void {
  const { res } = ctx;
  if (events === 0) {
    breakOff(ctx);
    return;
  }
  let remainingEvents = events;
  if (takesFrames(res)) {
    const take = res.takeFrames.bind(res);
    res.takeFrames = (frames) => {
      if (!isActive()) return take(frames);
      const some = frames.slice(0, remainingEvents);
      remainingEvents -= some.length;
      take(some);
      if (remainingEvents === 0) breakOff(ctx);
    };
    return;
  }
  // Over HTTP/1.1 the chunks of a watch go to the connection itself.
  const target = ctx.http2 ? (res as unknown as Sent) : (ctx.req.socket as unknown as Sent);
  const originalWrite = target.write;
  const write = originalWrite.bind(target);
  target.write = (chunk, ...rest) => {
    if (!isActive()) return write(chunk, ...rest);
    if (remainingEvents === 0) return true;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const end = endOfEvents(bytes, remainingEvents);
    remainingEvents -= end.events;
    return remainingEvents === 0 ? write(bytes.subarray(0, end.at), () => breakOff(ctx)) : write(chunk, ...rest);
  };
  // The connection is used for other requests afterwards. Replaced methods are restored in reverse order, before the next response
  // is written.
  let restored = false;
  const restore = (): void => {
    if (!restored) target.write = originalWrite;
    restored = true;
  };
  res.prependOnceListener('finish', restore);
  res.prependOnceListener('close', restore);
}

/** The stream that a watch is written to. */
interface Sent {
  write(chunk: Buffer | string, ...rest: unknown[]): boolean;
}
const [CLOSE_BRACE, LINE_END] = [0x7d, 0x0a];

/** How many of the first JSON events end within the bytes, and where the last of them ends. */
function endOfEvents(bytes: Buffer, few: number): { events: number; at: number } {
  let events = 0;
  let at = bytes.length;
  for (let i = 1; i < bytes.length && events < few; i++) {
    if (bytes[i] !== LINE_END || bytes[i - 1] !== CLOSE_BRACE) continue;
    events++;
    at = i + 1;
  }
  return { events, at: events < few ? bytes.length : at };
}

const patternText = (pattern: FaultPattern): string =>
  Object.entries(pattern)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ') || 'every request';
