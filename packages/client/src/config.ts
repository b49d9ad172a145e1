/**
 * The kubeconfig file: servers, users, and the context in use. Several files are merged; values of
 * earlier files win. Paths within a file are relative to its directory.
 */

import { readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';
import { writeSecretFile } from '@plat-dev/pki/files';
import { parseExact } from '@plat-dev/schema/json/parse';

export interface ClusterEntry {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}
/** How a credential plug-in is run. */
export interface ExecEntry {
  command?: string;
  args?: readonly string[] | null;
  env?: readonly { readonly name?: string; readonly value?: string }[] | null;
  apiVersion?: string;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: string;
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
  as?: string;
  'as-uid'?: string;
  'as-groups'?: readonly string[] | null;
  'as-user-extra'?: Readonly<Record<string, readonly string[]>> | null;
  exec?: ExecEntry | null;
  'auth-provider'?: { readonly name?: string; readonly config?: Readonly<Record<string, string>> | null } | null;
}
interface ContextEntry {
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
  /** The file that each user was read from: renewed tokens are written there. */
  readonly userFiles: ReadonlyMap<string, string>;
}
/** The message is for the user of the command line. */
export class ConfigError extends Error {
  /** The line of the stock client about the same, which scripts look for. */
  readonly stockText: string | undefined;

  constructor(message: string, stockText?: string) {
    super(message);
    this.name = 'ConfigError';
    this.stockText = stockText;
  }
}

const maxFileBytes = 4 << 20;

/** Reads and merges the files; missing ones are skipped. */
export async function loadConfig(paths: readonly string[]): Promise<ClientConfig> {
  const clusters = new Map<string, ClusterEntry>();
  const users = new Map<string, UserEntry>();
  const contexts = new Map<string, ContextEntry>();
  const userFiles = new Map<string, string>();
  let currentContext = '';
  for (const path of paths) {
    const file = await readConfigFile(path);
    if (file === undefined) continue;
    for (const [name, entry] of file.clusters) if (!clusters.has(name)) clusters.set(name, entry);
    for (const [name, entry] of file.users) {
      if (users.has(name)) continue;
      users.set(name, entry);
      userFiles.set(name, path);
    }
    for (const [name, entry] of file.contexts) if (!contexts.has(name)) contexts.set(name, entry);
    if (currentContext === '') currentContext = file.currentContext;
  }
  return { clusters, users, contexts, currentContext, userFiles };
}

async function readConfigFile(path: string): Promise<ClientConfig | undefined> {
  let text: string;
  try {
    // Every command waits for it, and a read by another thread takes longer.
    text = readFileSync(path, 'utf8');
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

const notLoaded = (path: string, problem: string): string => `error: error loading config file ${JSON.stringify(path)}: ${problem}`;

/** Parses the text of a configuration file. `path` is used for messages and for relative paths. */
export async function parseConfig(text: string, path: string): Promise<ClientConfig> {
  let raw: unknown;
  try {
    raw = text.trimStart().startsWith('{') ? parseExact(text) : (await import('@plat-dev/schema/yaml')).parseYaml(text);
  } catch (error) {
    const problem = (error as Error).message.split('\n')[0] as string;
    throw new ConfigError(`the client configuration ${path} does not parse: ${problem}`, notLoaded(path, problem));
  }
  if (raw === null || raw === undefined) raw = {};
  if (typeof raw !== 'object' || Array.isArray(raw)) throw new ConfigError(`the client configuration ${path} is not a configuration`);
  const file = raw as Record<string, unknown>;
  const { apiVersion = 'v1' } = file;
  if (apiVersion !== 'v1' && apiVersion !== null && apiVersion !== '') {
    const problem = `no kind "Config" is registered for version ${jsonText(apiVersion)}`;
    throw new ConfigError(
      `the client configuration ${path} has apiVersion ${jsonText(apiVersion)}: it must be v1`,
      notLoaded(path, problem),
    );
  }
  const directory = dirname(resolve(path));
  const users = entries<UserEntry>(file.users, 'user', directory, ['client-certificate', 'client-key', 'tokenFile']);
  for (const user of users.values()) if (user.exec) user.exec = withPath(user.exec, directory);
  return {
    clusters: entries(file.clusters, 'cluster', directory, ['certificate-authority']),
    users,
    userFiles: new Map([...users.keys()].map((name) => [name, path])),
    contexts: entries(file.contexts, 'context', directory, []),
    currentContext: typeof file['current-context'] === 'string' ? file['current-context'] : '',
  };
}

/** A command without a slash is looked up in PATH; a path is relative to the file that names it. */
function withPath(exec: ExecEntry, directory: string): ExecEntry {
  const { command } = exec;
  if (typeof command !== 'string' || !/[\\/]/.test(command) || isAbsolute(command)) return exec;
  return { ...exec, command: join(directory, command) };
}

/** `[{ name, cluster: {…} }]` as a map, with the paths among its fields made absolute. */
function entries<T>(list: unknown, field: string, directory: string, paths: readonly string[]): Map<string, T> {
  const entriesByName = new Map<string, T>();
  for (const item of Array.isArray(list) ? list : []) {
    const name: unknown = item?.name;
    const body: unknown = own(item, field);
    if (typeof name !== 'string' || (typeof body !== 'object' && body !== undefined) || entriesByName.has(name)) continue;
    // An entry without fields counts: flags may hold all of them.
    const entry: Record<string, unknown> = { ...body };
    for (const key of paths) {
      const path = own(entry, key);
      if (typeof path === 'string' && path !== '' && !isAbsolute(path)) setOwn(entry, key, join(directory, path));
    }
    entriesByName.set(name, entry as T);
  }
  return entriesByName;
}

// ---- location, and writing ----------------------------------------------------------------------------------------

/** The files to read: the one given, else those of PLATCONFIG, PLAT_CONFIG or KUBECONFIG, else the default places. */
export function configPaths(
  explicit: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  usual: readonly string[],
): readonly string[] {
  if (explicit !== undefined) return [explicit];
  const paths = (env.PLATCONFIG || env.PLAT_CONFIG || env.KUBECONFIG || '').split(delimiter).filter((path) => path !== '');
  return paths.length > 0 ? paths : usual;
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

/** Writes the file atomically, readable by its owner only. */
export function writeConfig(path: string, config: SimpleConfig): Promise<void> {
  return writeSecretFile(path, printConfig(config));
}
