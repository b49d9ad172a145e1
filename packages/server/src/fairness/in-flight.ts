/**
 * Limits the requests in flight. Beyond a limit a request gets 429 with Retry-After 1, instead of slowing down
 * all others; long-running ones (watches, tunnels, logs) are counted but not limited, and `system:masters` is always
 * served.
 */

import { tooManyRequests } from '@plat-dev/meta/errors';
import { wellKnown } from '../auth/types.ts';
import { atEnd, type Context } from '../context.ts';
import { BACKUP_PATH } from '../endpoints/store-backup.ts';
import type { Step } from '../pipeline.ts';
import type { RequestInfo } from '../request/request-info.ts';

export interface InFlightLimits {
  /** 0 is no limit. */
  readonly reading: number;
  readonly mutating: number;
}

/** Requests in flight, and how many were rejected since the start. */
export class InFlight {
  reading = 0;
  mutating = 0;
  longRunning = 0;
  droppedReading = 0;
  droppedMutating = 0;
  private readonly limits: InFlightLimits;
  /** Made once, so that a request needs no closure of its own. */
  private readonly endReading = (): void => {
    this.reading--;
  };
  private readonly endMutating = (): void => {
    this.mutating--;
  };
  private readonly endLongRunning = (): void => {
    this.longRunning--;
  };

  private readonly begin: ((ctx: Context) => () => void) | undefined;

  /** `begin` is called for every long-running request, and returns the function to call at its end. */
  constructor(limits: InFlightLimits, begin?: (ctx: Context) => () => void) {
    this.limits = limits;
    this.begin = begin;
  }

  /** Counts a request that priority and fairness rejected. */
  readonly dropped = ({ info }: Context): void => {
    if (reads(info.verb)) this.droppedReading++;
    else this.droppedMutating++;
  };

  /** Relies on `ctx.onFinished` being called once, however the request ends. */
  readonly step: Step = (ctx) => {
    const { info } = ctx;
    // The client may have disconnected while the request waited; such a request would never be counted out.
    if (ctx.res.destroyed) return;
    if (isLongRunning(info)) {
      ctx.longRunning = true;
      this.longRunning++;
      atEnd(ctx, this.endLongRunning);
      if (this.begin !== undefined) atEnd(ctx, this.begin(ctx));
    } else if (reads(info.verb)) {
      if (this.limits.reading > 0 && this.reading >= this.limits.reading && !isSuperuser(ctx)) {
        this.droppedReading++;
        throw busy();
      }
      this.reading++;
      atEnd(ctx, this.endReading);
    } else {
      if (this.limits.mutating > 0 && this.mutating >= this.limits.mutating && !isSuperuser(ctx)) {
        this.droppedMutating++;
        throw busy();
      }
      this.mutating++;
      atEnd(ctx, this.endMutating);
    }
  };
}

const busy = () => tooManyRequests('Too many requests, please try again later.', 1);
const reads = (verb: string): boolean => verb === 'get' || verb === 'list' || verb === 'watch';
const isSuperuser = (ctx: Context): boolean => ctx.user.groups.includes(wellKnown.masters);

/** Long-running requests. */
export function isLongRunning(info: RequestInfo): boolean {
  if (info.verb === 'watch') return true;
  switch (info.subresource) {
    case 'attach':
    case 'exec':
    case 'log':
    case 'portforward':
    case 'proxy':
      return true;
    default:
      return !info.resourceRequest && info.path === BACKUP_PATH;
  }
}
