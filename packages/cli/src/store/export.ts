/** `plat store export`: objects as files for people and for other servers. */

import { existsSync } from 'node:fs';
import { appendFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ExportSource } from '@plat-dev/compose/store/store-export';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { bool, choice, FlagError, file } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Identity } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { online } from './backup.ts';
import { demandPath, exitCodes, noArguments, outputFlag, placeFlags, placeOf } from './place.ts';
import { type Exported, isOwn, isToken, pathOf, stripped } from './portable.ts';

const flags = {
  Export: {
    to: file('Directory of manifests, or file of lines, to make. It must not exist.'),
    from: file('Backup to export, in place of a store.'),
    format: choice('manifests', ['manifests', 'json-lines'], 'One YAML file per object, or one line of JSON per object.'),
    'keep-server-fields': bool(false, 'Keep uids, times, managers and status, which other servers do not accept.'),
    all: bool(false, 'Export also what servers make by themselves: events, leases, objects of controllers, own roles, tokens.'),
    'encryption-provider-config': file('Keys of the store, where it is encrypted.'),
    ...outputFlag,
  },
  Store: placeFlags,
  Connecting: connectFlags,
};

export const exportCommand = command({
  usage: '--to DIRECTORY|FILE [--from FILE | --data-dir DIRECTORY | --etcd-servers URL,…] [flags]',
  summary: 'Write objects as files that people can read and that `kubectl apply -R -f` and `plat store import` take.',
  flags,
  more: `
Examples:
  plat store export --to objects                              of the running server
  plat store export --from plat.backup --to objects           of a backup
  plat store export --data-dir .plat --to all.jsonl --format json-lines --all --keep-server-fields

Secrets are written in plain text, readable for their owner alone.
${exitCodes('objects that cannot be read were left out; the others were written')}`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const to = demandPath(options.to, 'to', io);
    if (existsSync(to)) throw new FlagError(`--to ${options.to} exists and is not overwritten: choose another name, or move it away`);
    const place = placeOf(options, givenFlags, io);
    if (options.from !== undefined && place !== undefined) throw new FlagError('--from names a backup: leave the store out');
    const work = async (source: ExportSource): Promise<number> => {
      const { exportObjects } = await import('@plat-dev/compose/store/store-export');
      const target = options.format === 'manifests' ? new Manifests(to) : new Lines(to);
      let identity: Identity | undefined;
      let objects = 0;
      const take = async (object: Record<string, unknown>): Promise<void> => {
        const one = object as Exported;
        if (!options.all && identity !== undefined && (isOwn(one, identity) || isToken(one, identity))) return;
        objects++;
        await target.put(options.keepServerFields ? one : stripped(one));
      };
      try {
        await target.begin();
        const { unreadable, revision } = await exportObjects(source, { encryption: options.encryptionProviderConfig, take }, (name) => {
          identity = name === undefined ? undefined : identityOf(name);
        });
        await target.end();
        return report({ to, objects, revision, unreadable }, options.output, io);
      } catch (error) {
        await target.abort();
        throw error;
      }
    };
    if (options.from !== undefined) return work({ type: 'file', file: demandPath(options.from, 'from', io) });
    if (place !== undefined) return work({ type: 'place', place });
    return online(options, io, (chunks) => work({ type: 'chunks', chunks }));
  },
});

interface Summary {
  readonly to: string;
  readonly objects: number;
  readonly revision: number;
  readonly unreadable: readonly string[];
}
function report(summary: Summary, output: string, io: IO): number {
  const { to, objects, revision, unreadable } = summary;
  io.out(output === 'json' ? `${JSON.stringify(summary)}\n` : `${to}: ${objects} objects of revision ${revision}\n`);
  if (unreadable.length === 0) return 0;
  const firstUnreadable = unreadable.slice(0, 20).join(', ');
  io.err(
    `plat: ${unreadable.length === 1 ? '1 object' : `${unreadable.length} objects`} cannot be read and ${unreadable.length === 1 ? 'was' : 'were'} left out (damaged, or encrypted: give the keys with --encryption-provider-config): ${firstUnreadable}\n`,
  );
  return 3;
}

/** Written under another name until it is complete. */
class Manifests {
  readonly #to: string;
  readonly #partial: string;
  readonly #directories = new Set<string>();

  constructor(to: string) {
    this.#to = to;
    this.#partial = `${to}.partial-${process.pid}`;
  }
  async begin(): Promise<void> {
    await mkdir(this.#partial, { mode: 0o700 });
  }
  async put(object: Exported): Promise<void> {
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    const path = join(this.#partial, pathOf(object));
    const directory = dirname(path);
    if (!this.#directories.has(directory)) makeDirectory(directory, 0o700);
    this.#directories.add(directory);
    await writeFile(path, stringifyYaml(object), { mode: 0o600, flag: 'wx' });
  }
  end(): Promise<void> {
    return rename(this.#partial, this.#to);
  }
  abort(): Promise<void> {
    return rm(this.#partial, { recursive: true, force: true });
  }
}

class Lines {
  readonly #to: string;
  readonly #partial: string;

  constructor(to: string) {
    this.#to = to;
    this.#partial = `${to}.partial-${process.pid}`;
  }
  begin(): Promise<void> {
    return writeFile(this.#partial, '', { mode: 0o600, flag: 'wx' });
  }
  put(object: Exported): Promise<void> {
    return appendFile(this.#partial, `${jsonText(object)}\n`);
  }
  async end(): Promise<void> {
    const opened = await open(this.#partial, 'r+');
    await opened.sync().finally(() => opened.close());
    await rename(this.#partial, this.#to);
  }
  abort(): Promise<void> {
    return rm(this.#partial, { force: true });
  }
}
