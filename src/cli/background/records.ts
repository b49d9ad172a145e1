/**
 * The servers that `plat up` started, one directory each below the state directory of the user:
 *
 *   ~/.local/state/plat/servers/NAME/server.json   what is known of it
 *                                    server.log    what it prints
 *                                    data/         its data directory, with its own admin.conf
 */
import { existsSync } from 'node:fs';
import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFiles } from '../../config/server-options.ts';
import { makeDirectory } from '../../lib/directories.ts';
import { FlagError } from '../../lib/flags.ts';
import { writeSecretFile } from '../../lib/pki.ts';
import type { IO } from '../command.ts';
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
}

/** Names become names of directories and of contexts. */
export function checkName(name: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new FlagError(`${JSON.stringify(name)} is not a name of a server: lower case letters, digits and - between them, at most 63`);
}

export class Records {
  private readonly root: string;

  constructor({ env, home }: Pick<IO, 'env' | 'home'>) {
    this.root = join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'plat', 'servers');
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
    const entries = await readdir(this.root, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isDirectory() && existsSync(this.file(entry.name)))
      .map(({ name }) => name)
      .sort();
  }
  async read(name: string): Promise<ServerRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.file(name), 'utf8')) as ServerRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(
        `${this.file(name)} cannot be read: ${(error as Error).message}; \`plat down ${name}\` needs it, or remove the directory`,
      );
    }
  }
  write(record: ServerRecord): Promise<void> {
    return writeSecretFile(this.file(record.name), `${JSON.stringify(record, undefined, 2)}\n`);
  }
  remove(name: string): Promise<void> {
    return rm(this.directory(name), { recursive: true, force: true });
  }

  /** Keeps other commands away from a server while one changes it. Throws where another is at it. */
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
    const mine = `${file}.${process.pid}`;
    await writeFile(mine, JSON.stringify(processOf(process.pid)), { mode: 0o600 });
    try {
      await this.linkClaim(name, mine, file);
    } finally {
      await rm(mine, { force: true });
    }
  }
  private async linkClaim(name: string, mine: string, file: string): Promise<void> {
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        // Under its name it is whole from the beginning: others read it at once.
        await link(mine, file);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        const holder = await readClaim(file);
        if (holder !== undefined && isRunning(holder)) break;
        // Whoever held it ended before it was done.
        await rm(file, { force: true });
      }
    }
    throw new Error(`another plat command is starting or stopping ${name}; if none is, remove ${file}`);
  }
  private file(name: string): string {
    return join(this.directory(name), 'server.json');
  }
}

async function readClaim(file: string): Promise<ProcessId | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ProcessId;
  } catch {
    return undefined;
  }
}
