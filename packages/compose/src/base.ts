/** What every part of a server is made with. */

import type { Kind } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Metrics } from '@plat-dev/lib/metrics';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import type { Authorizer } from '@plat-dev/server/auth/types';
import type { ContainerFiles } from '@plat-dev/workloads/nodes/container-files';
import type { ServerOptions } from './config/server-options.ts';
import type { Parts } from './parts.ts';
import type { RequestHooks } from './requests/request-hooks.ts';
import type { ServerState } from './store/snapshot-state.ts';

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
  readonly disks: ContainerFiles;
  /** What has begun, and is ended with the server. */
  readonly parts: Parts;
  readonly hooks?: RequestHooks | undefined;
  readonly wrapAuthorizer?: ((authorizer: Authorizer) => Authorizer) | undefined;
  /** What the server begins with instead of an empty store; undefined for all but copies of others. */
  readonly from?: ServerState | undefined;
  /** The folder of the console's files, where it is another than that of the build. */
  readonly consoleFiles?: string | undefined;
  /** The server cannot go on. */
  readonly fail: (why: string, error: unknown) => void;
}
