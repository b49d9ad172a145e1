/**
 * A real server in the test's own process, on a free port with a directory of its own.
 *
 *   const server = await startTestServer({ store: 'lmdb', identity: 'kubernetes' });
 *   await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
 *   const watch = await server.admin.watch('/api/v1/namespaces/a/configmaps?watch=1');
 *   await server.close();
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeptAgents } from '../../packages/client/src/agents.ts';
import { type ServerOptions, serverOptions } from '../../packages/compose/src/config/server-options.ts';
import { composeServer, type Listening, type RunningServer } from '../../packages/compose/src/server.ts';
import type { Clock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { type Log, silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import type { Identity } from '../../packages/meta/src/identity.ts';
import type { Authorizer } from '../../packages/server/src/auth/types.ts';
import type { Handle } from '../../packages/server/src/tunnels/upgrade.ts';
import type { Engine } from '../../packages/storage/src/engine.ts';
import { openEngine } from '../../packages/storage/src/engines/index.ts';
import { Client, type ClientOptions } from './client.ts';
import { keepKeys, provideKeys } from './server-keys.ts';
import { provideSigningKey } from './signing-key.ts';

export { type Answer, Client, type Loose } from './client.ts';
export { summary, type Watch } from './watch.ts';

/** token,user,uid,groups: the accounts of the recorded conversations. */
const TOKENS = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev,qa"
bob-token,bob,bob-uid,""
`;

export interface TestServerOptions extends Partial<Omit<ServerOptions, 'dataDir'>> {
  readonly dataDir?: string | undefined;
  /** Time as the store sees it: history is forgotten by it. */
  readonly storeClock?: Clock;
  /** Time by which credentials expire and open streams are looked at. */
  readonly clock?: Clock;
  readonly log?: Log;
  /** The server makes all of its keys itself, which takes long. Without it servers of a run share the one that signs tokens. */
  readonly ownSigningKey?: boolean;
  /** Free bytes of the disk as the store sees it. */
  readonly freeBytes?: (directory: string) => number;
  /** What the server uses instead of the store, for tests of its faults. */
  readonly wrapEngine?: (engine: Engine) => Engine;
  /** What the server asks instead of its authorizer, for tests that record its questions. */
  readonly wrapAuthorizer?: (authorizer: Authorizer) => Authorizer;
  /**
   * Clients send their requests without a connection, which takes a part of the processor time: for tests of many requests that
   * are not about HTTP. Clients that ask for HTTP/2 or have a certificate still have a connection.
   */
  readonly direct?: boolean;
  /** The folder of the console's files. */
  readonly consoleFiles?: string;
}

export interface TestServer {
  readonly address: string;
  readonly port: number;
  readonly identity: Identity;
  readonly dataDir: string;
  readonly running: RunningServer & { readonly adminConfigPath: string };
  /** The store underneath, for tests that make it forget or fail. */
  readonly engine: Engine;
  /** Callers by token. */
  readonly admin: Client;
  readonly alice: Client;
  readonly bob: Client;
  readonly anonymous: Client;
  /** What the server logged as errors. A test that expects none says so. */
  readonly errors: readonly string[];
  /** Connections of commands in this process, which outlast each of them. */
  readonly connections: KeptAgents;
  /** What takes the requests of its clients, where they have no connection. */
  readonly direct: Handle | undefined;
  client(options?: ClientOptions): Client;
  /** Makes a namespace that no other test uses and answers its name. */
  namespace(labels?: Record<string, string>): Promise<string>;
  /** Ends the server gracefully and starts it again on the same directory and port. */
  restart(changes?: TestServerOptions): Promise<TestServer>;
  /** A second server with the same options, but for changes, and a directory of its own: on a shared store, a peer. */
  peer(changes?: TestServerOptions): Promise<TestServer>;
  /** Ends the server and removes its directory. */
  close(): Promise<void>;
}

/** Of a command. Most have one request at a time; those that ask for much at once would open many, each of which takes longer than a request. */
const MOST_CONNECTIONS = 6;

let serial = 0;
/** A word that no other part of this run uses; words of one prefix are in the order in which they were made. */
export const unique = (prefix = 'x'): string => `${prefix}${process.pid.toString(36)}${(serial++).toString(36).padStart(4, '0')}`;

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? temporaryDirectory('plat-server');
  if (!options.ownSigningKey) provideSigningKey(dataDir);
  // Certificates are valid at the time of the clock by which they were made, and a server that is given some makes fewer.
  const namesFiles = Object.keys(options).some((name) => name.endsWith('File'));
  const shares = options.dataDir === undefined && options.clock === undefined && !namesFiles && !options.ownSigningKey;
  const { identity } = serverOptions(options.identity === undefined ? {} : { identity: options.identity });
  if (shares) provideKeys(dataDir, identity);
  const server = await startIn(dataDir, options);
  if (shares) keepKeys(dataDir, identity);
  return server;
}

async function startIn(dataDir: string, given: TestServerOptions): Promise<TestServer> {
  const {
    storeClock,
    clock,
    log,
    ownSigningKey,
    freeBytes,
    wrapEngine = (store: Engine) => store,
    wrapAuthorizer,
    direct,
    consoleFiles,
    ...changes
  } = given;
  const tokenAuthFile = join(dataDir, 'tokens.csv');
  writeFileSync(tokenAuthFile, TOKENS, { mode: 0o600 });
  const options = serverOptions({ store: 'memory', securePort: 0, tokenAuthFile, ...changes, dataDir });
  const errors: string[] = [];
  let engine: Engine | undefined;
  const openStore = async (wanted: Parameters<typeof openEngine>[0]): Promise<Engine> => {
    engine = await openEngine({ ...wanted, ...(storeClock !== undefined && { clock: storeClock }), freeBytes });
    return wrapEngine(engine);
  };
  const composed = await composeServer(options, { log: log ?? collecting(errors), openStore, clock, wrapAuthorizer, consoleFiles }, true);
  const { base, credentials, listening, ended, close, abort } = composed;
  const { adminConfigPath } = credentials;
  const running: RunningServer = { ...(listening as Listening), identity: base.identity, adminConfigPath, ended, close, abort };
  const handle = direct ? composed.requests.handlerForClients() : undefined;
  const clients: Client[] = [];
  const connections = new KeptAgents(MOST_CONNECTIONS);
  const client = (clientOptions: ClientOptions = {}): Client => {
    const made = new Client(running.address, { direct: handle, ...clientOptions });
    clients.push(made);
    return made;
  };
  const admin = client({ token: 'admin-token' });
  const stop = async (): Promise<void> => {
    for (const one of clients) one.close();
    connections.close();
    await running.close();
  };
  return {
    address: running.address,
    port: running.port,
    identity: running.identity,
    dataDir,
    running: running as TestServer['running'],
    engine: engine as Engine,
    admin,
    alice: client({ token: 'alice-token' }),
    bob: client({ token: 'bob-token' }),
    anonymous: client(),
    errors,
    connections,
    direct: handle,
    client,
    async namespace(labels) {
      const name = unique('n');
      await admin.ok('POST', '/api/v1/namespaces', { metadata: { name, ...(labels && { labels }) } });
      return name;
    },
    async restart(more = {}) {
      await stop();
      return startIn(dataDir, { ...given, securePort: running.port, ...more });
    },
    peer: (changes) => startTestServer({ ...given, ...changes, dataDir: undefined }),
    async close() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function collecting(errors: string[]): Log {
  return {
    ...silentLog,
    error: (message, fields) => void errors.push(`${message} ${jsonText(fields ?? {})}`),
    child: () => collecting(errors),
  };
}
