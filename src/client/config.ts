/**
 * The client configuration file: which servers there are, who the user is at each, and which pair of both is in use. Several
 * files may be named; what the earlier one says wins. Paths within a file are relative to its directory.
 */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { writeSecretFile } from '../lib/pki/files.ts';
import { didYouMean } from '../lib/suggest.ts';

export interface ClusterEntry {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}
export interface UserEntry {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  exec?: unknown;
  'auth-provider'?: unknown;
}
export interface ContextEntry {
  cluster: string;
  user?: string;
  namespace?: string;
}
/** The file, with its lists as maps by name. */
export interface ClientConfig {
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly currentContext: string;
}
/** Everything needed to talk to a server. */
export interface Connection {
  readonly server: string;
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  /** Namespace of the context. */
  readonly namespace: string;
}

/** The message is for the person at the keyboard. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

const maxFileBytes = 4 << 20;

/** Reads and joins the files; those that do not exist are passed over. */
export async function loadConfig(paths: readonly string[]): Promise<ClientConfig> {
  const clusters = new Map<string, ClusterEntry>();
  const users = new Map<string, UserEntry>();
  const contexts = new Map<string, ContextEntry>();
  let currentContext = '';
  for (const path of paths) {
    const file = await readConfigFile(path);
    if (file === undefined) continue;
    for (const [name, entry] of file.clusters) if (!clusters.has(name)) clusters.set(name, entry);
    for (const [name, entry] of file.users) if (!users.has(name)) users.set(name, entry);
    for (const [name, entry] of file.contexts) if (!contexts.has(name)) contexts.set(name, entry);
    if (currentContext === '') currentContext = file.currentContext;
  }
  return { clusters, users, contexts, currentContext };
}

async function readConfigFile(path: string): Promise<ClientConfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(
      `the client configuration ${path} cannot be read: ${code === 'EACCES' ? 'it belongs to someone else' : (error as Error).message}`,
    );
  }
  if (text.length > maxFileBytes) throw new ConfigError(`the client configuration ${path} is too large`);
  return parseConfig(text, path);
}

/** Reads the text of a configuration file. `path` is used for messages and for relative paths. */
export async function parseConfig(text: string, path: string): Promise<ClientConfig> {
  let raw: unknown;
  try {
    raw = text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('../schema/yaml.ts')).parseYaml(text);
  } catch (error) {
    throw new ConfigError(`the client configuration ${path} does not parse: ${(error as Error).message.split('\n')[0]}`);
  }
  if (raw === null || raw === undefined) raw = {};
  if (typeof raw !== 'object' || Array.isArray(raw)) throw new ConfigError(`the client configuration ${path} is not a configuration`);
  const file = raw as Record<string, unknown>;
  const directory = dirname(resolve(path));
  return {
    clusters: entries(file.clusters, 'cluster', directory, ['certificate-authority']),
    users: entries(file.users, 'user', directory, ['client-certificate', 'client-key', 'tokenFile']),
    contexts: entries(file.contexts, 'context', directory, []),
    currentContext: typeof file['current-context'] === 'string' ? file['current-context'] : '',
  };
}

/** `[{ name, cluster: {…} }]` as a map, with the paths among its fields made absolute. */
function entries<T>(list: unknown, field: string, directory: string, paths: readonly string[]): Map<string, T> {
  const found = new Map<string, T>();
  for (const item of Array.isArray(list) ? list : []) {
    const name: unknown = item?.name;
    const body: unknown = item?.[field];
    if (typeof name !== 'string' || typeof body !== 'object' || body === null || found.has(name)) continue;
    const entry: Record<string, unknown> = { ...body };
    for (const key of paths) {
      const path = entry[key];
      if (typeof path === 'string' && path !== '' && !isAbsolute(path)) entry[key] = join(directory, path);
    }
    found.set(name, entry as T);
  }
  return found;
}

export interface ConnectionChoice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly insecure?: boolean | undefined;
}

/** The connection that a configuration and the wishes of a command line amount to. Reads the files it names. */
export async function connectionOf(config: ClientConfig, choice: ConnectionChoice = {}): Promise<Connection> {
  const contextName = choice.context ?? config.currentContext;
  const context = contextName === '' ? undefined : find(config.contexts, contextName, 'context');
  const clusterName = choice.cluster ?? context?.cluster ?? '';
  const cluster = clusterName === '' ? undefined : find(config.clusters, clusterName, 'cluster');
  const userName = choice.user ?? context?.user ?? '';
  const user = userName === '' ? undefined : find(config.users, userName, 'user');
  const server = choice.server ?? cluster?.server ?? '';
  if (server === '') throw new ConfigError('no server is known: start one with `plat server`, or name one with --kubeconfig or --server');
  if (user?.exec !== undefined || user?.['auth-provider'] !== undefined) {
    throw new ConfigError(`the user ${userName} gets credentials from a plug-in, which this release cannot call yet: use --token`);
  }
  const ownServer = choice.server !== undefined && choice.server !== cluster?.server;
  const address = checkServer(server);
  return {
    server: address,
    ca:
      choice.certificateAuthority !== undefined
        ? await readPem(choice.certificateAuthority)
        : ownServer
          ? undefined
          : await pem(cluster, 'certificate-authority'),
    certificate: await pem(user, 'client-certificate'),
    key: await pem(user, 'client-key'),
    authorization: checkPlain(address, await authorizationOf(user, choice.token)),
    insecure: choice.insecure ?? cluster?.['insecure-skip-tls-verify'] ?? false,
    serverName: cluster?.['tls-server-name'],
    namespace: choice.namespace ?? context?.namespace ?? 'default',
  };
}

function find<T>(known: ReadonlyMap<string, T>, name: string, what: string): T {
  const entry = known.get(name);
  if (entry === undefined)
    throw new ConfigError(`the client configuration has no ${what} ${JSON.stringify(name)}${didYouMean(name, known.keys())}`);
  return entry;
}
function checkServer(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ConfigError(`the server ${JSON.stringify(server)} is not an address such as https://127.0.0.1:6443`);
  }
  return server.replace(/\/+$/, '');
}
/** A token that crosses a network in the clear belongs to everyone on it. */
function checkPlain(server: string, authorization: string | undefined): string | undefined {
  const { protocol, hostname } = new URL(server);
  const loopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  if (authorization !== undefined && protocol === 'http:' && !loopback) {
    throw new ConfigError(`credentials are not sent to ${server}: it does not use HTTPS`);
  }
  return authorization;
}
/** Data within the file comes before the path of another file. */
async function pem<K extends string>(entry: Partial<Record<K | `${K}-data`, unknown>> | undefined, key: K): Promise<string | undefined> {
  const data = entry?.[`${key}-data`];
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64').toString();
  const path = entry?.[key];
  return typeof path === 'string' && path !== '' ? readPem(path) : undefined;
}
async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
}
async function authorizationOf(user: UserEntry | undefined, token: string | undefined): Promise<string | undefined> {
  if (token !== undefined) return `Bearer ${token}`;
  if (user?.token !== undefined && user.token !== '') return `Bearer ${user.token}`;
  if (user?.tokenFile !== undefined) return `Bearer ${(await readPem(user.tokenFile)).trim()}`;
  if (user?.username === undefined) return undefined;
  return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
}

// ---- where it is, and writing it -----------------------------------------------------------------------------------

/** The files to read: the one named, else those of PLATCONFIG or KUBECONFIG, else the usual places. */
export function configPaths(
  explicit: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  usual: readonly string[],
): readonly string[] {
  if (explicit !== undefined) return [explicit];
  const listed = (env.PLATCONFIG || env.KUBECONFIG || '').split(':').filter((path) => path !== '');
  return listed.length > 0 ? listed : usual;
}

export interface SimpleConfig {
  /** Name of the cluster; the context is `user@name`. */
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly user: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

/** The text of a configuration with one cluster, one user and one context, all data within. */
export function printConfig(config: SimpleConfig): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const credentials = [
    config.certificate === undefined ? [] : [`    client-certificate-data: ${base64(config.certificate)}`],
    config.key === undefined ? [] : [`    client-key-data: ${base64(config.key)}`],
    config.token === undefined ? [] : [`    token: ${JSON.stringify(config.token)}`],
  ].flat();
  const [name, user] = [JSON.stringify(config.name), JSON.stringify(config.user)];
  const context = JSON.stringify(`${config.user}@${config.name}`);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    certificate-authority-data: ${base64(config.ca)}
    server: ${JSON.stringify(config.server)}
users:
- name: ${user}
  user:${credentials.length === 0 ? ' {}' : `\n${credentials.join('\n')}`}
contexts:
- name: ${context}
  context:
    cluster: ${name}
    user: ${user}
current-context: ${context}
preferences: {}
`;
}

/** Writes the file so that only its owner can read it, all at once. */
export function writeConfig(path: string, config: SimpleConfig): Promise<void> {
  return writeSecretFile(path, printConfig(config));
}
