/**
 * Which client configuration a command uses. As plat no command reaches a server that was not named:
 *
 *   1. --kubeconfig
 *   2. PLATCONFIG or PLAT_CONFIG, else KUBECONFIG
 *   3. .plat/admin.conf of the working directory, if it belongs to the user, and ~/.plat/config, which only plat reads
 *   4. ~/.kube/config, if the context leads to a server that this user runs
 *   5. the running server that this user started last
 *   6. within a pod: the server of its cluster
 *
 * Called as kubectl: --kubeconfig, KUBECONFIG, ~/.kube/config, and within a pod the server of its cluster. docs/decisions/039-named-servers.md says why.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientConfig, ConfigError, configPaths, loadConfig } from '@plat-dev/client/config';
import { dataFiles } from '@plat-dev/compose/config/data-files';
import { isOwn } from '@plat-dev/lib/files/private-file';
import { FlagError } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { RunningServer } from './background/running-servers.ts';
import type { IO } from './command.ts';
import { inClusterConfig } from './in-cluster.ts';
import { isWithin } from './path-within.ts';
import { isStock } from './program.ts';

type Place = Pick<IO, 'program' | 'cwd' | 'home' | 'env' | 'platform'>;

export interface ServerChoice {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly cluster: string | undefined;
  readonly server: string | undefined;
}
export interface ChosenConfig {
  readonly config: ClientConfig;
  /** The file that was chosen, for messages. */
  readonly source: string;
  /** Addresses of all servers that the user could have meant. */
  serverNames(): Promise<ReadonlySet<string>>;
}

const stockFile = (io: Place): string => join(io.home, '.kube', 'config');
/** Files that are only about plat: the server of this directory, and the user's own. */
const ownFiles = (io: Place): string[] => {
  const local = join(io.cwd, '.plat', dataFiles.adminConfig);
  return [...(belongsToUs(local, io) ? [local] : []), join(io.home, '.plat', 'config')];
};

/** The files that `config` shows and changes, the first of them before the others. */
export function configFiles(explicit: string | undefined, io: Place): readonly string[] {
  return namedFiles(explicit, io) ?? (isStock(io) ? [stockFile(io)] : [...ownFiles(io), stockFile(io)]);
}
/** The files that the command line or the environment names. */
function namedFiles(explicit: string | undefined, io: Place): readonly string[] | undefined {
  const paths = configPaths(explicit, isStock(io) ? { KUBECONFIG: io.env.KUBECONFIG } : io.env, []);
  return paths.length > 0 ? paths : undefined;
}

/** The configuration for a connection. Throws ConfigError if no server was named. */
export async function chooseConfig(choice: ServerChoice, io: Place): Promise<ChosenConfig> {
  if (choice.kubeconfig !== undefined && !existsSync(choice.kubeconfig)) {
    throw new FlagError(
      `--kubeconfig ${choice.kubeconfig}: there is no such file`,
      `error: stat ${choice.kubeconfig}: no such file or directory`,
    );
  }
  const configFiles = namedFiles(choice.kubeconfig, io) ?? (isStock(io) ? [stockFile(io)] : undefined);
  if (configFiles !== undefined) {
    const config = await loadConfig(configFiles);
    const inPod = isStock(io) && config.clusters.size === 0 ? inClusterConfig(io.env) : undefined;
    return chosenConfig(inPod ?? config, configFiles.join(', '), async () => []);
  }
  // Loaded only when it is needed: most commands find their server before.
  const running = async (): Promise<readonly RunningServer[]> => (await import('./background/running-servers.ts')).runningServers(io);
  const own = await loadConfig(ownFiles(io));
  const ownNames = ownFiles(io)
    .filter((file) => existsSync(file))
    .join(', ');
  if (leads(own, choice)) return chosenConfig(own, ownNames, running);
  const servers = await running();
  const stock = await loadConfig([stockFile(io)]);
  if (servers.some(({ address }) => address === serverOf(stock, choice))) return chosenConfig(stock, stockFile(io), running);
  const last = choice.context === undefined && choice.cluster === undefined ? forServer(servers, choice.server) : undefined;
  if (last !== undefined) return chosenConfig(await loadConfig([last.kubeconfig]), last.kubeconfig, running);
  // An address that was named needs no configuration; one without the chosen context says which contexts it has.
  if (choice.server !== undefined || own.clusters.size > 0) return chosenConfig(own, ownNames, running);
  const inPod = inClusterConfig(io.env);
  if (inPod !== undefined) return chosenConfig(inPod, 'the service account of the pod', running);
  throw await noServer(choice, stock, io);
}

const chosenConfig = (config: ClientConfig, source: string, running: () => Promise<readonly RunningServer[]>): ChosenConfig => ({
  config,
  source,
  async serverNames() {
    const servers = [...config.clusters.values()].map(({ server }) => server);
    return new Set([...servers, ...(await running()).map(({ address }) => address)]);
  },
});
/** The server that was started last; credentials go to their own server only. */
const forServer = (running: readonly RunningServer[], server: string | undefined): RunningServer | undefined =>
  server === undefined ? running[0] : running.find(({ address }) => address === server);

/** The address that the context of the configuration leads to; undefined if there is none. */
function serverOf(
  { clusters, contexts, currentContext }: ClientConfig,
  { context = currentContext, cluster }: ServerChoice,
): string | undefined {
  return clusters.get(cluster ?? contexts.get(context)?.cluster ?? '')?.server;
}
/** A choice that the configuration does not have is left to its own error, if there is any configuration. */
function leads(config: ClientConfig, choice: ServerChoice): boolean {
  if (serverOf(config, choice) !== undefined) return true;
  return choice.server !== undefined && config.currentContext !== '';
}

async function noServer({ context, cluster }: ServerChoice, stock: ClientConfig, io: Place): Promise<ConfigError> {
  const wantedServer =
    context === undefined
      ? cluster === undefined
        ? ''
        : ` with the cluster ${cluster}`
      : ` with the context ${context}${didYouMean(context, [...stock.contexts.keys()])}`;
  const file = stockFile(io);
  const unused = stock.clusters.size === 0 ? '' : `; ${file} is not used by itself: to reach the cluster there, add --kubeconfig ${file}`;
  const { stoppedServers } = await import('./background/running-servers.ts');
  const [stopped, ...more] = await stoppedServers(io);
  const again =
    stopped === undefined ? '' : ` (\`plat up ${stopped}\` starts ${stopped} again${more.length > 0 ? ', `plat list` shows others' : ''})`;
  return new ConfigError(
    `no server is known${wantedServer}: start one with \`plat server\` or \`plat up\`${again}, or name one with --kubeconfig, KUBECONFIG, PLATCONFIG or --server${unused}`,
  );
}

/**
 * A file that someone else may have put into this directory is not trusted to name our server and credentials. Windows does not say
 * whose it is: there, only the user writes below the user's own directory.
 */
function belongsToUs(path: string, { home, platform }: Place): boolean {
  try {
    return platform === 'win32' ? existsSync(path) && isWithin(path, home) : isOwn(statSync(path), process.getuid?.());
  } catch {
    return false;
  }
}
