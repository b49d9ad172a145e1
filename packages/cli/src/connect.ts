/** The connection that the global flags and the client configuration describe. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connectionOf } from '@plat-dev/client/connection';
import type { Connection } from '@plat-dev/client/connection-settings';
import type { CredentialEnvironment } from '@plat-dev/client/credentials';
import { DiscoveryCache } from '@plat-dev/client/discovery-cache';
import { Transport } from '@plat-dev/client/transport';
import type { IO } from './command.ts';
import { type ConnectOptions, connectFlags } from './global-flags.ts';
import { userCache } from './home.ts';
import { Warnings } from './output/warnings.ts';
import { isStock, noteLine, userAgent } from './program.ts';
import { type ChosenConfig, chooseConfig, configFiles } from './server-choice.ts';

export { type ConnectOptions, configFiles, connectFlags };

export interface Session {
  readonly transport: Transport;
  readonly connection: Connection;
  /** Milliseconds for requests that are not watches. */
  readonly timeout: { readonly timeout?: number };
  /** Warnings of all responses; printed as they arrive. */
  readonly warnings: Warnings;
  /** What earlier commands learned about the server's types; undefined if nothing can be kept. */
  readonly cache: DiscoveryCache | undefined;
  /** To be called before the first change: names the server on the standard error if the user could have meant another one. */
  announce(): Promise<void>;
}

/** What the stock client falls back to. */
const STOCK_SERVER = 'http://localhost:8080';

/** `signal` ends all requests. */
export async function connect(
  options: ConnectOptions,
  namespace: string | undefined,
  io: IO,
  signal?: AbortSignal | undefined,
): Promise<Session> {
  const configChoice = await chooseConfig(options, io);
  const { config } = configChoice;
  const nothing = isStock(io) && config.clusters.size === 0 && options.server === undefined;
  const choice = {
    context: options.context,
    cluster: options.cluster,
    user: options.user,
    server: nothing ? STOCK_SERVER : options.server,
    token: options.token,
    username: options.username,
    password: options.password,
    clientCertificate: options.clientCertificate,
    clientKey: options.clientKey,
    certificateAuthority: options.certificateAuthority,
    tlsServerName: options.tlsServerName,
    as: options.as,
    asGroups: options.asGroup,
    asUid: options.asUid,
    // As for the stock client: a variable that a script did not set is no namespace.
    namespace: namespace === '' ? undefined : namespace,
    ...(options.insecureSkipTlsVerify && { insecure: true }),
  };
  const connection = await connectionOf(config, choice, credentialEnvironment(io, readsStdin(options)));
  const warnings = new Warnings(io);
  const trace =
    options.v < 6 ? undefined : (await import('@plat-dev/client/trace')).requestTrace(options.v, io.clock, (line) => io.err(line));
  const timeout = options.requestTimeout === 0 ? {} : { timeout: options.requestTimeout };
  const transport = new Transport(connection, userAgent(io), io.clock, {
    onWarning: (header) => warnings.print(header),
    trace,
    signal,
    ...timeout,
    keptAgents: io.connections,
  });
  const session = {
    transport,
    connection,
    warnings,
    timeout,
    cache: discoveryCache(connection, options.cacheDir, io),
    announce: announcer(configChoice, connection, options, io),
  };
  if (options.matchServerVersion) await checkVersion(session);
  return session;
}

/** In the directory of the stock client if called as that. Nothing is kept for a user without a home directory. */
function discoveryCache({ server, ca }: Connection, cacheDirectory: string | undefined, io: IO): DiscoveryCache | undefined {
  const directory = cacheDirectory ?? (isStock(io) ? join(io.home, '.kube', 'cache') : userCache(io));
  if (cacheDirectory === undefined && !existsSync(io.home) && !(io.env.XDG_CACHE_HOME && !isStock(io))) return undefined;
  return new DiscoveryCache(join(resolve(io.cwd, directory), 'plat-discovery'), server, ca ?? '', io.clock);
}

/** Objects or values that come from the standard input leave none for a credential plug-in. */
function readsStdin(options: object): boolean {
  const { filename = [], readsStdin: reads = false } = options as { filename?: readonly string[]; readsStdin?: boolean };
  return reads || filename.includes('-');
}

const credentialEnvironment = ({ env, clock, terminal, err }: IO, stdinTaken: boolean): CredentialEnvironment => ({
  env,
  clock,
  interactive: terminal.interactive && !stdinTaken,
  stdinTaken,
  show: (text) => err(text),
});

/** The stock client says nothing about its server. */
function announcer(choice: ChosenConfig, { server }: Connection, { context }: ConnectOptions, io: IO): () => Promise<void> {
  let announced: Promise<void> | undefined;
  const announce = async (): Promise<void> => {
    if (isStock(io) || (await choice.serverNames()).size < 2) return;
    const name = context ?? choice.config.currentContext;
    io.err(noteLine(`changing objects at ${server} (context ${JSON.stringify(name)} of ${choice.source})`, io));
  };
  return () => {
    announced ??= announce();
    return announced;
  };
}

/** The release that this program has the API of, as servers report theirs. */
async function checkVersion({ transport, timeout }: Session): Promise<void> {
  const { stockRelease } = await import('@plat-dev/lib/version');
  const { gitVersion = '' } = await transport.json<{ gitVersion?: string }>({ path: '/version', ...timeout });
  // What follows a plus sign is about the build.
  if (gitVersion.split('+')[0] !== `v${stockRelease}`)
    throw new Error(`server version (${gitVersion}) differs from client version (v${stockRelease})`);
}
