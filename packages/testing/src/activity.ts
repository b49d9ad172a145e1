/** The work in progress of a server, for waits until it has settled. */
import { systemClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { isWorkWaiting } from '@plat-dev/lib/slices';
import type { Context } from '@plat-dev/server/context';

/** Turns of the event loop without new work after which a server counts as settled: parts wake each other within fewer. */
const QUIET_TURNS = 10;
/** Deadline of a wait by the machine's clock; the error then names the work in progress. */
const LONGEST_MS = 20_000;

/**
 * Work that a controller repeats this soon is waited for: after a conflict, say, the first retries are. Later ones are not, so
 * that work which can never succeed does not keep a server from settling.
 */
const SOON_MS = 100;

export interface Watched {
  /** Grows with every write. */
  revision(): number;
  /** Whether parts of the server have work to do now, or retry within so many milliseconds. */
  isBusy(retryMs: number): boolean;
  /** Whether its time passes by itself, so that what is due soon is waited for. */
  readonly timePasses: boolean;
}

export class Activity {
  private readonly inProgress = new Set<Context>();
  /** Requests that wait for the clock: they make no progress until it moves. */
  private readonly waiting = new Set<Context>();
  private requestCount = 0;
  private lastText = '';
  private server: Watched | undefined;

  /** The server whose requests these are, once it has started. */
  watch(server: Watched): void {
    this.server = server;
  }
  begin(ctx: Context): void {
    this.requestCount++;
    this.inProgress.add(ctx);
  }
  end(ctx: Context): void {
    this.inProgress.delete(ctx);
    this.waiting.delete(ctx);
  }
  /** The request waits for the clock until the promise resolves. */
  async waits(ctx: Context, until: Promise<void>): Promise<void> {
    this.waiting.add(ctx);
    try {
      await until;
    } finally {
      this.waiting.delete(ctx);
      this.requestCount++;
    }
  }
  /** A request in progress; long-running ones, such as watches, do not count. */
  private busyWith(): Context | undefined {
    for (const ctx of this.inProgress) if (!ctx.longRunning && !this.waiting.has(ctx)) return ctx;
    return undefined;
  }
  private isBusy(): boolean {
    return isWorkWaiting() || this.busyWith() !== undefined || this.server?.isBusy(this.server.timePasses ? SOON_MS : 0) === true;
  }
  private mark(): string {
    return `${this.requestCount} ${this.server?.revision()}`;
  }

  /** For use after calls that rarely start work: resolves at once if there is no new request or write. */
  async settledAfterCall(): Promise<void> {
    if (this.isBusy() || this.mark() !== this.lastText) await this.settled();
  }
  /** Resolves when no work is in progress, and none was added for some turns of the event loop. */
  async settled(): Promise<void> {
    const until = systemClock.monotonic() + LONGEST_MS;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await nextTurn();
      const mark = this.mark();
      if (!this.isBusy() && mark === this.lastText) continue;
      this.lastText = mark;
      quiet = -1;
      if (systemClock.monotonic() > until) throw new Error(`the server did not settle in ${LONGEST_MS / 1000} seconds: ${this.reason()}`);
    }
  }
  private reason(): string {
    const ctx = this.busyWith();
    if (ctx !== undefined) return `${ctx.method} ${ctx.path} is in progress`;
    return this.isBusy() ? 'its controllers or custom kinds have work to do' : 'requests and writes do not end';
  }
}
