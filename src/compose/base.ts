/** What every part of a server is made with. */
import type { Authorizer } from '../auth/types.ts';
import type { ServerOptions } from '../config/server-options.ts';
import type { KeptDisks } from '../controllers/nodes/kept-disks.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Parts } from '../lib/parts.ts';
import type { Random } from '../lib/random.ts';
import type { Identity } from '../meta/identity.ts';
import type { RequestHooks } from './request-hooks.ts';
import type { ServerState } from './server-state.ts';

export interface Base {
  readonly options: ServerOptions;
  readonly identity: Identity;
  /** The built-in ones, in all versions that may be served. */
  readonly kinds: readonly Kind[];
  /** The time of requests, connections and credentials. */
  readonly clock: Clock;
  /** The time of objects and controllers: the same, unless it passes faster (`--time-factor`). */
  readonly objectClock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What commands wrote in simulated containers. */
  readonly disks: KeptDisks;
  /** What has begun, and is ended with the server. */
  readonly parts: Parts;
  readonly hooks?: RequestHooks | undefined;
  readonly wrapAuthorizer?: ((authorizer: Authorizer) => Authorizer) | undefined;
  /** What the server begins with instead of an empty store; undefined for all but copies of others. */
  readonly from?: ServerState | undefined;
  /** The server cannot go on. */
  readonly fail: (why: string, error: unknown) => void;
}
