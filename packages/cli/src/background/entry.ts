/** The entry of a background server in the client configuration: a cluster, a user and a context of one name. */
import { dirname, join, resolve } from 'node:path';
import { ConfigError, configPaths } from '@plat-dev/client/config';
import { editConfig, type RawConfig, readRawConfig } from '@plat-dev/client/config-file';
import type { Clock } from '@plat-dev/lib/clock';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import type { IO } from '../command.ts';
import type { ServerRecord } from './records.ts';

export const contextName = (name: string): string => `plat-${name}`;

/** The file that gets the entry: where kubectl and plat both look. */
export function entryFile(explicit: string | undefined, { env, home, cwd }: IO): string {
  const [first] = configPaths(explicit, env, [join(home, '.kube', 'config')]);
  return resolve(cwd, first as string);
}

const lists = ['clusters', 'users', 'contexts'] as const;

const serverOf = (config: RawConfig, name: string): unknown =>
  (config.clusters?.find((entry) => entry.name === name)?.cluster as { server?: unknown } | undefined)?.server;

/** Whether the file has the entry of the server at this address. Throws if it has an entry of that name for another server. */
export async function checkEntry(file: string, name: string, address?: string): Promise<boolean> {
  const config = (await readRawConfig(file)) ?? {};
  if (address !== undefined && serverOf(config, name) === address) return true;
  const listWithName = lists.find((list) => config[list]?.some((entry) => entry.name === name));
  if (listWithName === undefined) return false;
  throw new ConfigError(
    `${file} has ${listWithName} with the name ${name} already, which plat up did not make: choose another NAME or --kubeconfig, or remove them`,
  );
}

/** Copies the server's own kubeconfig. The context becomes the current one if requested or if there is none. */
export async function writeEntry(file: string, name: string, adminConfig: string, use: boolean, clock: Clock): Promise<void> {
  const own = (await readRawConfig(adminConfig)) ?? {};
  const cluster = own.clusters?.[0]?.cluster;
  const user = own.users?.[0]?.user;
  // The directory must exist for the lock against other writers.
  makeDirectory(dirname(file), 0o700);
  await editConfig(file, clock, (config) => {
    drop(config, name);
    config.clusters = [...(config.clusters ?? []), { name, cluster }];
    config.users = [...(config.users ?? []), { name, user }];
    config.contexts = [...(config.contexts ?? []), { name, context: { cluster: name, user: name } }];
    if (use || !config['current-context']) config['current-context'] = name;
  });
}

/** An entry that names another server by now is kept. */
export async function removeEntry({ kubeconfig, moreKubeconfigs = [], context, address }: ServerRecord, clock: Clock): Promise<void> {
  for (const file of [kubeconfig, ...moreKubeconfigs]) await removeFrom(file, context, address, clock);
}
async function removeFrom(kubeconfig: string, context: string, address: string, clock: Clock): Promise<void> {
  const config = await readRawConfig(kubeconfig);
  if (config === undefined || serverOf(config, context) !== address) return;
  await editConfig(kubeconfig, clock, (current) => {
    drop(current, context);
    if (current['current-context'] === context) current['current-context'] = '';
  });
}

function drop(config: RawConfig, name: string): void {
  for (const list of lists) {
    const entries = config[list];
    if (entries !== undefined) config[list] = entries.filter((entry) => entry.name !== name);
  }
}
