import type { Counter, Histogram } from '@plat-dev/lib/metrics';

/** Series are found by the resource, then by a number of verb, scope and code; the few that still share a place are chained. */
export interface Series {
  readonly group: string;
  readonly version: string;
  readonly subresource: string;
  readonly dryRun: string;
  readonly next: Series | undefined;
  /** Of a path that leads somewhere: others are the client's invention and are not remembered. */
  readonly isKnownPath: boolean;
  readonly total: Counter;
  readonly duration: Histogram;
  /** Sizes of answers are counted for reads alone. */
  readonly size: Histogram | undefined;
  /** The resource is deprecated, and no client has requested it yet. */
  unmarked: boolean;
}
