/** The ports of a server, and how they are published. */

import { Connections } from '@plat-dev/server/connections/connection-limits';
import { type Listener, type ListenOptions, listen } from '@plat-dev/server/connections/listen';
import { registerConnections } from '@plat-dev/server/endpoints/metrics-endpoint';
import { type Handle, upgradeHandler } from '@plat-dev/server/tunnels/upgrade';
import type { Base } from './base.ts';
import { composeClusterInfo } from './credentials/cluster-info.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { Hurry } from './parts.ts';
import type { Access } from './requests/access.ts';
import type { Requests } from './requests/requests.ts';
import type { State } from './state.ts';

/** How long a graceful shutdown waits for requests in progress. */
export const CLOSE_WAIT_MS = 10_000;

/** A port that cannot be listened on. The message names the flag that chooses another. */
class ListenError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ListenError';
  }
}

/** Returns the HTTPS port. `handle` gets all requests. */
export async function composeListeners(base: Base, { trust }: Access, requests: Requests, handle: Handle): Promise<number> {
  const { options, identity, clock, metrics, parts } = base;
  const upgrade = upgradeHandler(handle, `base64url.bearer.authorization.${identity.groupSuffix}.`);
  const connections = new Connections({ total: options.maxConnections, perAddress: options.maxConnectionsPerAddress });
  registerConnections(metrics, connections);
  const listeners: Listener[] = [];
  // Closing one closes all: they have the same requests.
  let closing: Promise<void> | undefined;
  const closeAll = async (hurry: Hurry): Promise<void> => {
    const closed = Promise.all(listeners.map((listener) => listener.close()));
    requests.endStreams();
    const abort = (): void => {
      for (const listener of listeners) listener.abort();
    };
    if (hurry.aborted) abort();
    hurry.addEventListener('abort', abort);
    const cancel = clock.after(CLOSE_WAIT_MS, abort);
    await closed;
    cancel();
    hurry.removeEventListener('abort', abort);
  };
  const close = (_: Listener, hurry: Hurry): Promise<void> => {
    closing ??= closeAll(hurry);
    return closing;
  };
  const open = async (name: string, flag: string, listenOptions: ListenOptions): Promise<Listener> => {
    const start = async (): Promise<Listener> => {
      const listener = await listen(listenOptions).catch((error: unknown) => Promise.reject(explained(error, flag, listenOptions)));
      listeners.push(listener);
      return listener;
    };
    return parts.start(name, start, close);
  };
  const common = { connections, handle, upgrade, clock };
  const listener = await open('https', 'secure-port', { ...common, host: options.bindAddress, port: options.securePort, tls: trust.tls });
  if (options.insecurePort !== 0) await open('http', 'insecure-port', { ...common, host: '127.0.0.1', port: options.insecurePort });
  return listener.port;
}

/** Publishes the address of this server to clients and to other servers on the same store. */
export async function announce(
  base: Base,
  { serverEndpoints }: State,
  { trust, writer }: Access,
  credentials: Credentials,
  port: number,
): Promise<void> {
  await base.parts.start(
    'announcement',
    async () => {
      const [withdraw] = await Promise.all([
        serverEndpoints.announce({ writer, port }),
        composeClusterInfo(base, { credentials, trust, writer, port }),
      ]);
      return withdraw;
    },
    (withdraw) => withdraw(),
  );
}

/** Advice for the most common reasons of a failed listen. */
function explained(error: unknown, flag: string, { host, port }: ListenOptions): unknown {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ListenError(
        `${where} is in use: is another server running? Choose another port with --${flag} (option ${flag === 'secure-port' ? 'securePort' : 'insecurePort'})`,
        error,
      );
    case 'EACCES':
      return new ListenError(`this user may not listen on ${where}: choose another port with --${flag}`, error);
    case 'EADDRNOTAVAIL':
      return new ListenError(`this machine has no address ${host}: choose another with --bind-address`, error);
    default:
      return error;
  }
}

/** An address that a client on this machine can use. */
export function reachable(bindAddress: string): string {
  if (bindAddress === '0.0.0.0') return '127.0.0.1';
  if (bindAddress === '::') return '[::1]';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
}
