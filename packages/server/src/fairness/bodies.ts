/**
 * Incomplete bodies. A request takes its seats when its body has been read, so that a client that sends slowly
 * blocks no seats; what such requests hold until then is bounded here:
 *
 *   count     USER_COUNT per user, LEVEL_COUNT per priority level: the oldest of the user with the most is refused with 429
 *   bytes     USER_BYTES, LEVEL_BYTES, counted until the request has its seats: the request that exceeds them, 429
 *   time      GRACE_MS and one second for every LEAST_RATE bytes that have arrived, 408
 *
 * Levels do not share these limits: those of ordinary users cannot lock nodes or controllers out. Exempt levels have only
 * the limit of time.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type ApiError, requestTimedOut, tooManyRequests } from '@plat-dev/meta/errors';
import type { Level } from './level.ts';

export const USER_COUNT = 200;
export const LEVEL_COUNT = 1000;
export const USER_BYTES = 32 * 1024 * 1024;
export const LEVEL_BYTES = 128 * 1024 * 1024;
export const GRACE_MS = 10_000;
/** Bytes per second. */
export const LEAST_RATE = 32 * 1024;
/** How often bodies are checked for lateness. */
export const LOOK_MS = 1000;

/** The incomplete bodies of one user at one level. */
export class BodyAccount {
  readonly level: Level;
  /** Incomplete bodies: their number, and a linked list from the oldest to the newest, which costs less than a set. */
  count = 0;
  oldest: UnfinishedBody | undefined;
  newest: UnfinishedBody | undefined;
  bytes = 0;
  /** Among the accounts that are checked. */
  listed = false;

  constructor(level: Level) {
    this.level = level;
  }

  add(body: UnfinishedBody): void {
    const { newest } = this;
    body.older = newest;
    if (newest === undefined) this.oldest = body;
    else newest.newer = body;
    this.newest = body;
    body.open = true;
    this.count++;
  }
  remove(body: UnfinishedBody): void {
    const { older, newer } = body;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
    body.older = body.newer = undefined;
    body.open = false;
    this.count--;
  }
}

export class UnfinishedBody {
  readonly account: BodyAccount;
  readonly startedAt: number;
  readonly unlimited: boolean;
  /** Received bytes, and those of them that are kept. */
  came = 0;
  bytes = 0;
  /** Neighbours in the linked list of its account, while it is in it. */
  older: UnfinishedBody | undefined;
  newer: UnfinishedBody | undefined;
  open = false;
  /** Aborts its reader; set by the reader. */
  fail: ((error: ApiError) => void) | undefined;
  /** Why it was refused before a handler read it. */
  refused: ApiError | undefined;

  constructor(account: BodyAccount, startedAt: number, unlimited: boolean) {
    this.account = account;
    this.startedAt = startedAt;
    this.unlimited = unlimited;
  }
  refuse(error: ApiError): void {
    if (this.fail === undefined) this.refused ??= error;
    else this.fail(error);
  }
}

export class Bodies {
  private readonly clock: Clock;
  /** Those with an incomplete body, and some that had one a moment ago. */
  private readonly accounts = new Set<BodyAccount>();
  private looking: Cancel | undefined;
  count = 0;
  bytes = 0;
  /** How many were refused since the start. */
  refused = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** A request with a body has arrived. `unlimited`: its count and bytes are not limited. */
  begin(account: BodyAccount, now: number, unlimited: boolean): UnfinishedBody {
    const body = new UnfinishedBody(account, now, unlimited);
    if (!unlimited) this.makeRoom(account);
    account.add(body);
    if (!account.listed) this.list(account);
    account.level.bodies++;
    this.count++;
    this.looking ??= this.clock.every(LOOK_MS, () => this.look());
    return body;
  }

  /** Counts bytes; false if they exceed a limit. */
  received(body: UnfinishedBody, bytes: number): boolean {
    const { account } = body;
    const { level } = account;
    if (!body.unlimited && (account.bytes + bytes > USER_BYTES || level.bodyBytes + bytes > LEVEL_BYTES)) {
      this.refused++;
      return false;
    }
    body.came += bytes;
    body.bytes += bytes;
    account.bytes += bytes;
    level.bodyBytes += bytes;
    this.bytes += bytes;
    return true;
  }

  /** The body is complete, or will never be. Its bytes still count. */
  complete(body: UnfinishedBody): void {
    const { account } = body;
    if (!body.open) return;
    account.remove(body);
    account.level.bodies--;
    this.count--;
  }

  /** The request has its seats, or is finished. */
  end(body: UnfinishedBody): void {
    this.complete(body);
    const { account, bytes } = body;
    body.bytes = 0;
    account.bytes -= bytes;
    account.level.bodyBytes -= bytes;
    this.bytes -= bytes;
  }

  close(): void {
    this.looking?.();
    this.looking = undefined;
  }

  private list(account: BodyAccount): void {
    account.listed = true;
    this.accounts.add(account);
  }
  private makeRoom(account: BodyAccount): void {
    if (account.count >= USER_COUNT) this.dropOldest(account);
    else if (account.level.bodies >= LEVEL_COUNT) {
      let most = account;
      for (const other of this.accounts) if (other.level === account.level && other.count > most.count) most = other;
      this.dropOldest(most);
    }
  }
  private dropOldest(account: BodyAccount): void {
    const { oldest } = account;
    if (oldest !== undefined) this.refuse(oldest, tooManyRequests('Too many unfinished request bodies, please try again later.', 1));
  }
  private refuse(body: UnfinishedBody, error: ApiError): void {
    this.refused++;
    this.complete(body);
    body.refuse(error);
  }

  private look(): void {
    const now = this.clock.monotonic();
    for (const account of this.accounts) {
      let next = account.oldest;
      while (next !== undefined) {
        const body = next;
        next = body.newer;
        if (now - body.startedAt > GRACE_MS + (body.came / LEAST_RATE) * 1000)
          this.refuse(body, requestTimedOut('the body of the request did not come in time'));
      }
      if (account.count > 0) continue;
      this.accounts.delete(account);
      account.listed = false;
    }
    if (this.count === 0) this.close();
  }
}
