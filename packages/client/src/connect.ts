/** A typed client for a server: over `fetch`, in browsers as in Node, or over any other transport. */
import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { groupName, identities } from '@plat-dev/meta/identity';
import { Client } from './dynamic.ts';
import { type FetchTarget, fetchHttp } from './fetch-http.ts';
import type { Http } from './http.ts';
import { typedClient } from './typed/client.ts';
import type { TypedClient } from './typed/types.ts';

export interface ConnectOptions {
  /** Whose names the groups have: `networking.k8s.io` (`kubernetes`, the default) or `networking.plat.dev` (`plat`). */
  readonly identity?: 'kubernetes' | 'plat';
  /** The name under which the client applies; a default for requests that give none. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  /** Called when an informer cannot list or watch; it retries by itself. */
  readonly report?: (error: unknown) => void;
  readonly clock?: Clock;
  /** A number from 0 to below 1, to spread retries. */
  readonly spread?: () => number;
}

export interface ConnectedClient extends TypedClient {
  /** Ends watches and informers. */
  close(): void;
}

export function connect(to: FetchTarget | Http, options: ConnectOptions = {}): ConnectedClient {
  const { identity: name = 'kubernetes', clock = systemClock, spread = Math.random, report = () => {} } = options;
  const { fieldManager = 'plat-client', userAgent = 'plat-client' } = options;
  const identity = identities[name] as (typeof identities)[string];
  const http = 'server' in to ? fetchHttp(to, clock) : to;
  const open = new Set<{ stop(): void }>();
  const client = typedClient({
    identity,
    client: new Client(http, { userAgent, metadataGroup: groupName(identity, 'meta') }),
    clock,
    spread,
    fieldManager,
    report,
    // A request that waits for its answer keeps a process alive by itself.
    keepAlive: { hold: () => () => {} },
    stopLater: (what) => {
      open.add(what);
      return () => open.delete(what);
    },
  });
  const close = (): void => {
    for (const what of [...open]) what.stop();
  };
  return { ...client, close };
}
