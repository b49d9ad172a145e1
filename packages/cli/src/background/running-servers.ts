/**
 * Servers of this user that run now, in the foreground or in the background. Each writes a record when it is ready and removes
 * it when it ends; the record of a process that was killed is ignored, and removed by the next server after its start.
 *
 *   ~/.local/state/plat/running/PID.json
 *
 * A server of `plat up` is known from the record of that command, which is written a moment earlier.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@plat-dev/lib/files/replace-file';
import type { IO } from '../command.ts';
import { stateDirectory } from '../home.ts';
import { isRunning, type ProcessId, processOf } from './process.ts';
import { Records } from './records.ts';

export interface RunningServer {
  readonly process: ProcessId;
  readonly address: string;
  /** The administrator's client configuration of the server. */
  readonly kubeconfig: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** Maximum number of records that are read; the servers beyond it are unknown to other commands. */
export const MOST_RUNNING = 256;

type Place = Pick<IO, 'env' | 'home'>;
const directoryOf = (io: Place): string => join(stateDirectory(io), 'running');

/**
 * Records this process. Returns the function that removes the record. Without a home directory there is none.
 * Does not wait for the event loop, which has more to do than anything else right after a start.
 */
export async function recordRunning(io: Place & Pick<IO, 'clock'>, address: string, kubeconfig: string): Promise<() => Promise<void>> {
  const own = processOf(process.pid);
  if (own === undefined || !(existsSync(io.home) || io.env.XDG_STATE_HOME)) return async () => {};
  const directory = directoryOf(io);
  const file = join(directory, `${process.pid}.json`);
  try {
    const record: RunningServer = { process: own, address, kubeconfig, startedAt: io.clock.now() };
    replaceFile(file, `${JSON.stringify(record)}\n`);
  } catch {
    // A server runs where nothing can be written for its user, too.
    return async () => {};
  }
  const cleaned = removeStale(directory).catch(() => {});
  return async () => {
    await cleaned;
    await rm(file, { force: true });
  };
}

/** Removes the records of processes that do not run any more. */
async function removeStale(directory: string): Promise<void> {
  for (const { path, record } of await recordsIn(directory)) if (record === undefined) await rm(path, { force: true });
}

/** The servers that run, the one that was started last first. */
export async function runningServers(io: Place): Promise<RunningServer[]> {
  const running = (await recordsIn(directoryOf(io))).flatMap(({ record }) => (record === undefined ? [] : [record]));
  const pids = new Set(running.map(({ process: { pid } }) => pid));
  const background = (await startedByUp(io)).filter(({ process: { pid } }) => !pids.has(pid));
  return [...running, ...background].sort((a, b) => b.startedAt - a.startedAt || b.process.pid - a.process.pid);
}

/** Names of servers of `plat up` that do not run. */
export async function stoppedServers(io: Place): Promise<string[]> {
  const records = new Records(io);
  const names = (await records.names().catch(() => [])).slice(0, MOST_RUNNING);
  const serverRecords = await Promise.all(names.map((name) => records.read(name).catch(() => undefined)));
  return serverRecords.flatMap((record) =>
    record === undefined || (record.process !== undefined && isRunning(record.process)) ? [] : [record.name],
  );
}

async function startedByUp(io: Place): Promise<RunningServer[]> {
  const records = new Records(io);
  const names = (await records.names().catch(() => [])).slice(0, MOST_RUNNING);
  const startedRecords = await Promise.all(
    names.map(async (name) => {
      const record = await records.read(name).catch(() => undefined);
      if (record?.process === undefined || record.address === '' || !isRunning(record.process)) return [];
      const { process: id, address } = record;
      return [{ process: id, address, kubeconfig: records.adminConfig(name), startedAt: await records.writtenAt(name) }];
    }),
  );
  return startedRecords.flat();
}

/** The files of the directory; those of processes that do not run any more, and malformed ones, have no record. */
async function recordsIn(directory: string): Promise<{ path: string; record: RunningServer | undefined }[]> {
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => /^\d+\.json$/.test(name)).slice(0, MOST_RUNNING);
  return Promise.all(
    files.map(async (name) => {
      const path = join(directory, name);
      return { path, record: parse(await readFile(path, 'utf8').catch(() => '')) };
    }),
  );
}
function parse(text: string): RunningServer | undefined {
  try {
    const record = JSON.parse(text) as RunningServer;
    const isRecord =
      typeof record.address === 'string' &&
      typeof record.kubeconfig === 'string' &&
      Number.isFinite(record.startedAt) &&
      Number.isSafeInteger(record.process.pid) &&
      typeof record.process.started === 'string';
    return isRecord && isRunning(record.process) ? record : undefined;
  } catch {
    return undefined;
  }
}
