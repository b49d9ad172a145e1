/**
 * Changes to a kubeconfig file: read, changed and written as a whole under a lock file next to it, which the stock client
 * uses, too. Unknown fields are kept; comments are not.
 */

import { open, readFile, realpath, rm, stat } from 'node:fs/promises';
import type { Clock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { writeSecretFile } from '@plat-dev/pki/files';
import type { JsonValue } from '@plat-dev/schema/types';
import { ConfigError } from './config.ts';

/** The content of the file. Names and shapes are the file's, not validated. */
export interface RawConfig {
  [field: string]: unknown;
  clusters?: RawEntry[];
  users?: RawEntry[];
  contexts?: RawEntry[];
  'current-context'?: string;
}
export interface RawEntry {
  [field: string]: unknown;
  name: string;
}

const MAX_BYTES = 4 << 20;
/** A writer holds the lock for a moment. One of this age is stale. */
const LOCK_TRIES = 40;
const LOCK_WAIT_MS = 50;
const LOCK_LIFE_MS = 60_000;

/** Undefined if there is no such file. Throws ConfigError. */
export async function readRawConfig(path: string): Promise<RawConfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError(`the client configuration ${path} cannot be read: ${message}`);
  }
  if (text.length > MAX_BYTES) throw new ConfigError(`the client configuration ${path} is too large`);
  let value: unknown;
  try {
    value = (await import('@plat-dev/schema/yaml')).parseYaml(text);
  } catch (error) {
    throw new ConfigError(`the client configuration ${path} does not parse: ${(error as Error).message.split('\n')[0]}`);
  }
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new ConfigError(`the client configuration ${path} is not a configuration`);
  const config = value as RawConfig;
  for (const list of ['clusters', 'users', 'contexts'] as const) {
    const entries: unknown = config[list];
    if (entries === null || entries === undefined) delete config[list];
    else if (!Array.isArray(entries) || entries.some((entry) => typeof entry?.name !== 'string')) {
      throw new ConfigError(`the client configuration ${path} is not a configuration: ${list} must be a list of entries with names`);
    }
  }
  return config;
}

/** Reads the file, applies the change, and writes it back if something changed. A missing file counts as empty. */
export async function editConfig(path: string, clock: Clock, change: (config: RawConfig) => void): Promise<void> {
  // The target of a symbolic link is replaced, not the link.
  const target = await realpath(path).catch(() => path);
  const unlock = await lock(target, clock);
  try {
    const config = (await readRawConfig(target)) ?? {};
    const previousText = jsonText(config);
    change(config);
    if (jsonText(config) === previousText) return;
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    const whole = {
      apiVersion: 'v1',
      kind: 'Config',
      preferences: {},
      clusters: [],
      contexts: [],
      users: [],
      'current-context': '',
      ...config,
    };
    await writeSecretFile(target, stringifyYaml(whole as JsonValue));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`the client configuration ${path} cannot be written: ${(error as Error).message}`);
  } finally {
    await unlock();
  }
}

async function lock(path: string, clock: Clock): Promise<() => Promise<void>> {
  const lockPath = `${path}.lock`;
  for (let attempt = 0; ; attempt++) {
    try {
      await (await open(lockPath, 'wx', 0o600)).close();
      return () => rm(lockPath, { force: true });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The directory is created with the file.
      if (code === 'ENOENT') return async () => {};
      if (code !== 'EEXIST') throw new ConfigError(`the client configuration ${path} cannot be written: ${message}`);
      if (await isStale(lockPath, clock.now())) await rm(lockPath, { force: true });
      else if (attempt >= LOCK_TRIES) {
        throw new ConfigError(`another program is writing ${path}; if none is, remove ${lockPath}`);
      } else await clock.sleep(LOCK_WAIT_MS);
    }
  }
}
async function isStale(path: string, now: number): Promise<boolean> {
  try {
    return now - (await stat(path)).mtimeMs > LOCK_LIFE_MS;
  } catch {
    return false;
  }
}
