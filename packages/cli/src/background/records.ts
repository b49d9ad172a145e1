/**
 * The servers that `plat up` started, one directory each below the state directory of the user:
 *
 *   ~/.local/state/plat/servers/NAME/server.json   its record
 *                                    server.log    its output; server.log.1: what was in it before, or the output of its previous run
 *                                    data/         its data directory, with its own admin.conf
 */
import { existsSync } from 'node:fs';
import { link, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFiles } from '@plat-dev/compose/config/data-files';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { FlagError } from '@plat-dev/lib/flags';
import { writeSecretFile } from '@plat-dev/pki/files';
import type { IO } from '../command.ts';
import { stateDirectory } from '../home.ts';
import { isRunning, type ProcessId, processOf } from './process.ts';

export interface ServerRecord {
  readonly name: string;
  /** Undefined for one that is stopped. */
  readonly process?: ProcessId | undefined;
  readonly address: string;
  readonly identity: string;
  readonly store: string;
  /** Flags of the server, and the directory that their paths are relative to. */
  readonly flags: readonly string[];
  readonly cwd: string;
  /** The client configuration that has an entry for it, and the name of its cluster, user and context there. */
  readonly kubeconfig: string;
  readonly context: string;
  /** Further client configurations that have the same entry. */
  readonly moreKubeconfigs?: readonly string[];
}

/** A record that cannot be read or is malformed. */
export class BadRecord extends Error {}

const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Names become names of directories and of contexts. */
export function checkName(name: string): string {
  if (namePattern.test(name)) return name;
  throw new FlagError(
    `${JSON.stringify(name)} is not a server name: use lower case letters, digits and - between them, at most 63 characters`,
  );
}

export class Records {
  private readonly root: string;

  constructor(io: Pick<IO, 'env' | 'home'>) {
    this.root = join(stateDirectory(io), 'servers');
  }
  directory(name: string): string {
    return join(this.root, name);
  }
  logFile(name: string): string {
    return join(this.directory(name), 'server.log');
  }
  dataDirectory(name: string): string {
    return join(this.directory(name), 'data');
  }
  /** The administrator's configuration of the server itself. */
  adminConfig(name: string): string {
    return join(this.dataDirectory(name), dataFiles.adminConfig);
  }

  async names(): Promise<string[]> {
    const entries = await readdir(this.root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new Error(`cannot list the servers of plat up: ${error.message}`);
    });
    return entries
      .filter((entry) => entry.isDirectory() && namePattern.test(entry.name) && existsSync(this.file(entry.name)))
      .map(({ name }) => name)
      .sort();
  }
  /** Undefined where there is none. Throws BadRecord. */
  async read(name: string): Promise<ServerRecord | undefined> {
    try {
      const record: unknown = JSON.parse(await readFile(this.file(name), 'utf8'));
      if (!isRecord(record) || record.name !== name) throw new Error('it is not a record of this server');
      return record;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new BadRecord(`${this.file(name)} cannot be read: ${(error as Error).message}; \`plat down ${name}\` removes it with its data`);
    }
  }
  /** When the record was written: milliseconds since 1970. */
  async writtenAt(name: string): Promise<number> {
    return (await stat(this.file(name))).mtimeMs;
  }
  write(record: ServerRecord): Promise<void> {
    return writeSecretFile(this.file(record.name), `${JSON.stringify(record, undefined, 2)}\n`);
  }
  remove(name: string): Promise<void> {
    return rm(this.directory(name), { recursive: true, force: true });
  }

  /** Locks a server while a command changes it. Throws if another command holds the lock. */
  async claim<T>(name: string, work: () => Promise<T>): Promise<T> {
    makeDirectory(this.root, 0o700);
    const file = join(this.root, `${name}.claim`);
    await this.takeClaim(name, file);
    try {
      return await work();
    } finally {
      await rm(file, { force: true });
    }
  }
  private async takeClaim(name: string, file: string): Promise<void> {
    const mine = await this.announce(file);
    try {
      if (!(await this.linkClaim(mine, file)))
        throw new Error(`another plat command is starting or stopping ${name}; if none is, remove ${file} and the files ${file}.*`);
    } finally {
      await rm(mine, { force: true });
    }
  }
  /** A file that names a process which tries to take the claim: NAME.claim.PID.N */
  private async announce(file: string): Promise<string> {
    for (let n = 0; ; n++) {
      const mine = `${file}.${process.pid}.${n}`;
      try {
        await writeFile(mine, JSON.stringify(processOf(process.pid)), { mode: 0o600, flag: 'wx' });
        return mine;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || n === MOST_ANNOUNCED) throw error;
      }
    }
  }
  private async linkClaim(mine: string, file: string): Promise<boolean> {
    if (await linked(mine, file)) return true;
    // A stale claim is removed only by a process that sees no other contender. The holder is read after the contenders: a process
    // that took the claim meanwhile is seen here, and a later contender sees `mine`.
    if (await this.othersWant(mine, file)) return false;
    const holder = await readClaim(file);
    if (holder !== undefined && isRunning(holder)) return false;
    await rm(file, { force: true });
    return linked(mine, file);
  }
  private async othersWant(mine: string, file: string): Promise<boolean> {
    for (const entry of await readdir(this.root)) {
      const path = join(this.root, entry);
      if (path === mine || !path.startsWith(`${file}.`)) continue;
      const holder = (await readClaim(path)) ?? processOf(Number(path.slice(file.length + 1).split('.')[0]));
      if (holder !== undefined && isRunning(holder)) return true;
      await rm(path, { force: true });
    }
    return false;
  }
  private file(name: string): string {
    return join(this.directory(name), 'server.json');
  }
}

/** Maximum number of claims that one process tries to take at a time. */
const MOST_ANNOUNCED = 100;

/** Links the claim under its name only when it is complete: others read it at once. */
async function linked(mine: string, file: string): Promise<boolean> {
  try {
    await link(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readClaim(file: string): Promise<ProcessId | undefined> {
  try {
    const claim: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isProcessId(claim) ? claim : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');
const isProcessId = (value: unknown): value is ProcessId =>
  isObject(value) && Number.isSafeInteger(value.pid) && (value.pid as number) > 1 && typeof value.started === 'string';
const texts = ['name', 'address', 'identity', 'store', 'cwd', 'kubeconfig', 'context'] as const;
const isRecord = (value: unknown): value is ServerRecord =>
  isObject(value) &&
  isTexts(texts.map((field) => value[field])) &&
  isTexts(value.flags) &&
  isTexts(value.moreKubeconfigs ?? []) &&
  (value.process === undefined || isProcessId(value.process));
