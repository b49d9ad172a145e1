/** The files of the client configuration, merged, and the file that a change is written to. */

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { ConfigError } from '@plat-dev/client/config';
import { editConfig, type RawConfig, type RawEntry, readRawConfig } from '@plat-dev/client/config-file';
import type { Clock } from '@plat-dev/lib/clock';
import { FlagError, file } from '@plat-dev/lib/flags';
import { own, setOwn } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { IO } from '../command.ts';
import { isStock } from '../program.ts';
import { configFiles } from '../server-choice.ts';

export const fileFlag = {
  kubeconfig: file('The file to read and change; else PLATCONFIG, KUBECONFIG, .plat/admin.conf, ~/.plat/config, ~/.kube/config.'),
};

export type ListName = 'clusters' | 'users' | 'contexts';
/** The field of an entry that holds its body. */
export const fieldOf = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;
export type Body = Record<string, unknown>;

interface OneFile {
  readonly path: string;
  readonly config: RawConfig | undefined;
}

export class ConfigFiles {
  private readonly files: readonly OneFile[];
  private readonly fallback: string;
  readonly clock: Clock;
  /** Whether the program was called as kubectl. */
  readonly isStock: boolean;

  private constructor(files: readonly OneFile[], fallback: string, io: IO) {
    this.clock = io.clock;
    this.isStock = isStock(io);
    this.files = files;
    this.fallback = fallback;
  }
  static async read(explicit: string | undefined, io: IO): Promise<ConfigFiles> {
    const paths = configFiles(explicit, io).map((path) => resolve(io.cwd, path));
    const files: OneFile[] = [];
    for (const path of paths) files.push({ path, config: await readRawConfig(path) });
    // If no file exists, the last of a list is created, or our own of the default places. As kubectl there is no file of our own.
    const configPath = isStock(io) || explicit !== undefined || io.env.PLATCONFIG || io.env.PLAT_CONFIG || io.env.KUBECONFIG;
    return new ConfigFiles(files, configPath ? (paths.at(-1) as string) : join(io.home, '.plat', 'config'), io);
  }
  get currentContext(): string {
    return this.files.map(({ config }) => config?.['current-context'] ?? '').find((name) => name !== '') ?? '';
  }
  names(list: ListName): string[] {
    return [...new Set(this.files.flatMap(({ config }) => config?.[list]?.map(({ name }) => name) ?? []))].sort();
  }
  /** The body of an entry, with paths as written. */
  body(list: ListName, name: string): Body | undefined {
    return bodyOf(this.origin(list, name)?.config, list, name);
  }
  /** Throws where there is no such entry; each command of kubectl has a text of its own for that. */
  need(list: ListName, name: string, stockText?: string): Body {
    const body = this.body(list, name);
    if (body !== undefined) return body;
    if (this.isStock && stockText !== undefined) throw new ConfigError(stockText);
    throw new ConfigError(`there is no ${fieldOf[list]} ${JSON.stringify(name)}${didYouMean(name, this.names(list))}`);
  }
  /** The file that has the entry, or the one for new entries. */
  fileOf(list: ListName, name: string): string {
    return this.origin(list, name)?.path ?? this.defaultFile;
  }
  get defaultFile(): string {
    return this.files.find(({ path }) => existsSync(path))?.path ?? this.fallback;
  }
  get paths(): readonly string[] {
    return this.files.map(({ path }) => path);
  }
  /** The first file, with paths as written. */
  unmerged(): RawConfig {
    return structuredClone(this.files[0]?.config ?? {});
  }
  /** All files merged, with absolute paths. */
  merged(): RawConfig {
    const entries = (list: ListName): RawEntry[] =>
      this.names(list).map((name) => ({ name, [fieldOf[list]]: absolute(this.body(list, name) as Body, this.fileOf(list, name)) }));
    return {
      apiVersion: 'v1',
      kind: 'Config',
      preferences: this.files.find(({ config }) => config?.preferences)?.config?.preferences ?? {},
      clusters: entries('clusters'),
      users: entries('users'),
      contexts: entries('contexts'),
      'current-context': this.currentContext,
    };
  }

  /** Changes an entry in its file, or adds it. The change may return another body. */
  edit(list: ListName, name: string, change: (body: Body) => Body | undefined): Promise<void> {
    return editConfig(this.fileOf(list, name), this.clock, (config) => {
      const existingEntry = config[list]?.find((entry) => entry.name === name);
      const entry: RawEntry = existingEntry ?? { name };
      const field = fieldOf[list];
      const body = (entry[field] ?? {}) as Body;
      entry[field] = change(body) ?? body;
      if (existingEntry === undefined) config[list] = [...(config[list] ?? []), entry];
    });
  }
  remove(list: ListName, name: string): Promise<void> {
    return editConfig(this.fileOf(list, name), this.clock, (config) => {
      config[list] = config[list]?.filter((entry) => entry.name !== name) ?? [];
    });
  }
  /** An empty name removes the current context from every file. */
  async setCurrent(name: string): Promise<void> {
    const put = (path: string): Promise<void> =>
      editConfig(path, this.clock, (config) => {
        config['current-context'] = name;
      });
    if (name !== '') {
      // The first file that has a current context takes precedence.
      const first = this.files.find(({ config }) => config?.['current-context'])?.path;
      return put(first ?? this.defaultFile);
    }
    for (const { path, config } of this.files) if (config?.['current-context']) await put(path);
  }
  private origin(list: ListName, name: string): OneFile | undefined {
    return this.files.find(({ config }) => bodyOf(config, list, name) !== undefined);
  }
}

function bodyOf(config: RawConfig | undefined, list: ListName, name: string): Body | undefined {
  const entry = config?.[list]?.find((one) => one.name === name);
  return entry === undefined ? undefined : ((entry[fieldOf[list]] ?? {}) as Body);
}

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];
function absolute(body: Body, path: string): Body {
  const changed = { ...body };
  for (const field of pathFields) {
    const value = own(changed, field);
    if (typeof value === 'string' && value !== '' && !isAbsolute(value)) setOwn(changed, field, join(dirname(path), value));
  }
  return changed;
}

/** The only argument of a command. */
export function oneArgument(args: readonly string[], what: string, example: string): string {
  const [word, more] = args;
  if (word === undefined || word === '') throw new FlagError(`which ${what}? For example: plat ${example}`);
  if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
  return word;
}
export function noArguments(args: readonly string[]): void {
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
}
