/** The connection that follows from a configuration and the flags of a command. */

import { readFileSync } from 'node:fs';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { type ClientConfig, type ClusterEntry, ConfigError, type UserEntry } from './config.ts';
import type { Connection, ServerEndpoint } from './connection-settings.ts';
import { type CredentialEnvironment, type CredentialSource, tokenFileSource } from './credentials.ts';
import { isReadable } from './paths.ts';
import { proxyFor } from './proxy.ts';

export interface ConnectionChoice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly as?: string | undefined;
  readonly asUid?: string | undefined;
  readonly asGroups?: readonly string[] | undefined;
  readonly asUserExtra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Reads the files named in the configuration. */
export async function connectionOf(config: ClientConfig, choice: ConnectionChoice, world: CredentialEnvironment): Promise<Connection> {
  const contextName = choice.context ?? config.currentContext;
  const context = contextName === '' ? undefined : find(config.contexts, contextName, 'context');
  const clusterName = choice.cluster ?? context?.cluster ?? '';
  // An address on the command line needs no cluster, unless one is named there, too.
  const needsCluster = clusterName !== '' && (choice.server === undefined || choice.cluster !== undefined);
  const cluster = needsCluster ? find(config.clusters, clusterName, 'cluster') : config.clusters.get(clusterName);
  const userName = choice.user ?? context?.user ?? '';
  const user = withChoice(userName === '' ? undefined : find(config.users, userName, 'user'), choice);
  const server = choice.server ?? cluster?.server ?? '';
  if (server === '') throw new ConfigError('no server is known: start one with `plat server`, or name one with --kubeconfig or --server');
  const address = checkServer(server);
  checkUser(user, userName);
  const endpoint = await reach(address, cluster, choice, world);
  const source = await sourceOf({ user, userName, file: config.userFiles.get(userName) }, { ...endpoint, cluster }, world);
  const authorization = await authorizationOf(user);
  if (authorization !== undefined || source !== undefined) checkPlain(address);
  const impersonation = impersonationOf(user);
  return {
    ...endpoint,
    certificate: pem(user, 'client-certificate'),
    key: pem(user, 'client-key'),
    authorization,
    namespace: choice.namespace ?? context?.namespace ?? 'default',
    ...(source !== undefined && { credentials: source }),
    ...(impersonation !== undefined && { impersonation }),
  };
}

async function reach(
  server: string,
  cluster: ClusterEntry | undefined,
  choice: ConnectionChoice,
  world: CredentialEnvironment,
): Promise<ServerEndpoint> {
  const { certificateAuthority } = choice;
  const ca = pem(certificateAuthority === undefined ? cluster : { 'certificate-authority': certificateAuthority }, 'certificate-authority');
  // A CA on the command line is there to be checked, and the name in the file is that of the server in the file.
  const insecure = certificateAuthority === undefined && cluster?.['insecure-skip-tls-verify'] === true;
  const serverName = choice.server === undefined ? cluster?.['tls-server-name'] : undefined;
  const proxy = proxyFor(server, cluster?.['proxy-url'], world.env);
  return {
    server,
    ca,
    insecure: choice.insecure ?? insecure,
    serverName: choice.tlsServerName ?? (serverName || undefined),
    ...(proxy !== undefined && { proxy }),
  };
}

const certificateFields = ['client-certificate', 'client-certificate-data', 'client-key', 'client-key-data'] as const;

/** Flags about the user override all fields of the file for the same credential. */
function withChoice(userEntry: UserEntry | undefined, choice: ConnectionChoice): UserEntry | undefined {
  const { token, username, password, clientCertificate, clientKey } = choice;
  let user: UserEntry = { ...userEntry };
  if (token !== undefined || username !== undefined || clientCertificate !== undefined) {
    const { exec: _e, 'auth-provider': _p, token: _t, tokenFile: _f, username: _u, password: _w, ...others } = user;
    user = others;
    // Servers check a certificate first, and would ignore the other credentials.
    if (clientCertificate === undefined) for (const field of certificateFields) delete user[field];
  }
  if (token !== undefined) user.token = token;
  if (username !== undefined) user.username = username;
  if (password !== undefined) user.password = password;
  if (clientCertificate !== undefined) {
    const { 'client-certificate-data': _c, ...others } = user;
    user = { ...others, 'client-certificate': clientCertificate };
  }
  if (clientKey !== undefined) {
    const { 'client-key-data': _k, ...others } = user;
    user = { ...others, 'client-key': clientKey };
  }
  if (choice.as !== undefined) user.as = choice.as;
  if (choice.asUid !== undefined) user['as-uid'] = choice.asUid;
  if (choice.asGroups !== undefined && choice.asGroups.length > 0) user['as-groups'] = choice.asGroups;
  if (choice.asUserExtra !== undefined) user['as-user-extra'] = choice.asUserExtra;
  return Object.keys(user).length === 0 ? undefined : user;
}

function checkUser(user: UserEntry | undefined, name: string): void {
  if (user === undefined) return;
  const ways = [
    ...(user.token || user.tokenFile ? ['token'] : []),
    ...(user.username ? ['username'] : []),
    ...(user.exec ? ['exec'] : []),
    ...(user['auth-provider'] ? ['auth-provider'] : []),
  ];
  if (ways.length > 1) throw new ConfigError(`the user ${JSON.stringify(name)} has ${ways.join(' and ')}: only one of them can be sent`);
  const certificate = user['client-certificate'] || user['client-certificate-data'];
  const key = user['client-key'] || user['client-key-data'];
  if (Boolean(certificate) === Boolean(key)) return;
  throw new ConfigError(
    `the user ${JSON.stringify(name)} has a client ${certificate ? 'certificate but no key' : 'key but no certificate'}`,
  );
}

interface UserPlace {
  readonly user: UserEntry | undefined;
  readonly userName: string;
  readonly file: string | undefined;
}

/** Credentials that are made, renewed or reread while the client runs; loaded only for users that have them. */
async function sourceOf(
  place: UserPlace,
  endpoint: ServerEndpoint & { cluster: ClusterEntry | undefined },
  world: CredentialEnvironment,
): Promise<CredentialSource | undefined> {
  const { user, userName, file } = place;
  // A certificate in the configuration is meant to be used: the plug-in is not run, as with the stock client.
  if (user?.exec && !user['client-certificate'] && !user['client-certificate-data']) {
    const { execSource } = await import('./exec-plugin.ts');
    return execSource({ exec: user.exec, user: userName, reached: endpoint, extensions: endpoint.cluster?.extensions ?? [] }, world);
  }
  if (user?.['auth-provider']) {
    const { providerSource } = await import('./oidc-provider.ts');
    return providerSource({ provider: user['auth-provider'], user: userName, file }, world);
  }
  if (user?.tokenFile) return tokenFileSource(user.tokenFile, world, user.token);
  return undefined;
}

function impersonationOf(user: UserEntry | undefined): Record<string, string | readonly string[]> | undefined {
  const uid = user?.['as-uid'] || undefined;
  const groups = user?.['as-groups'] ?? [];
  const extra = Object.entries(user?.['as-user-extra'] ?? {});
  if (!user?.as) {
    if (uid === undefined && groups.length === 0 && extra.length === 0) return undefined;
    throw new ConfigError(
      'a uid, groups or extra values to act with need a user to act as: add --as USER',
      'error: requesting uid, groups or user-extra without impersonating a user',
    );
  }
  return {
    'impersonate-user': user.as,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(extra.map(([name, values]) => [`impersonate-extra-${headerKey(name)}`, values])),
  };
}
/** Characters that are not valid in a header name are percent-encoded; the server decodes them. */
const headerKey = (name: string): string =>
  [...Buffer.from(name.toLowerCase())]
    .map((byte) => String.fromCharCode(byte))
    .map((c) => (/[!#$&'*+\-.^_`|~0-9a-z]/.test(c) ? c : `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`))
    .join('');

/** What the stock client says about an entry that does not exist. */
const missingEntry = {
  context: (name: string) => `Error in configuration: context was not found for specified context: ${name}`,
  cluster: (name: string) => `Error in configuration: no server found for cluster ${JSON.stringify(name)}`,
  user: (name: string) => `error: auth info ${JSON.stringify(name)} does not exist`,
} as const;
function find<T>(entriesByName: ReadonlyMap<string, T>, name: string, what: keyof typeof missingEntry): T {
  const entry = entriesByName.get(name);
  if (entry === undefined)
    throw new ConfigError(
      `the client configuration has no ${what} ${JSON.stringify(name)}${didYouMean(name, entriesByName.keys())}`,
      missingEntry[what](name),
    );
  return entry;
}
function checkServer(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ConfigError(`the server ${JSON.stringify(server)} is not an address such as https://127.0.0.1:6443`);
  }
  return server.replace(/\/+$/, '');
}
function checkPlain(server: string): void {
  if (isReadable(server)) throw new ConfigError(`credentials are not sent to ${server}: it does not use HTTPS`);
}
/** Inline data takes precedence over the path of another file. */
function pem<K extends PemField>(entry: Partial<Record<K | `${K}-data`, unknown>> | undefined, key: K): string | undefined {
  const data = entry?.[`${key}-data`];
  if (typeof data === 'string' && data !== '') return checkedPem(Buffer.from(data, 'base64').toString(), key, `${key}-data`);
  const path = own(entry, key);
  return typeof path === 'string' && path !== '' ? checkedPem(readText(path), key, path) : undefined;
}
type PemField = 'certificate-authority' | 'client-certificate' | 'client-key';
/** Without a certificate OpenSSL would go on, as another user or with other CAs. */
function checkedPem(text: string, key: PemField, place: string): string {
  const content = key === 'client-key' ? 'PRIVATE KEY' : 'CERTIFICATE';
  if (new RegExp(`^-----BEGIN [A-Z0-9 ]*${content}-----`, 'm').test(text)) return text;
  throw new ConfigError(`${place} holds no ${content.toLowerCase()} in PEM form`);
}
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
}
async function authorizationOf(user: UserEntry | undefined): Promise<string | undefined> {
  if (user?.token !== undefined && user.token !== '') return `Bearer ${user.token}`;
  if (user?.tokenFile) return `Bearer ${readText(user.tokenFile).trim()}`;
  if (!user?.username) return undefined;
  return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
}
