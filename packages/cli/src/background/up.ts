/** `plat up`: starts a named server in the background. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { serverFlags } from '@plat-dev/compose/config/flags';
import { parseServerFlags, type ServerOptions } from '@plat-dev/compose/config/server-options';
import type { Clock } from '@plat-dev/lib/clock';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { bool, defaultOptions, type Flag, FlagError, file, flag, rawFlags, readInteger } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { type Command, command, type IO } from '../command.ts';
import { connect, connectFlags } from '../connect.ts';
import { type OwnProgram, ownProgram } from '../own-program.ts';
import { checkEntry, contextName, entryFile, removeEntry, writeEntry } from './entry.ts';
import { LOG_VARIABLE, previousLog } from './log-file.ts';
import { POLL_MS, processOf, stopProcess } from './process.ts';
import { checkName, Records, type ServerRecord } from './records.ts';
import { asJson, isUp, outputFlag } from './view.ts';
import { WAIT_VARIABLE } from './wait.ts';

/** Deadline of a start without a value of `--wait`. */
const WAIT_SECONDS = 60;
/** Log lines that the error of a failed start shows. */
const SHOWN_LINES = 20;
/** Maximum number of further client configurations with an entry of the server. */
const MOST_KUBECONFIGS = 16;

const optional = (help: string, value: string): Flag<string | undefined> =>
  flag<string | undefined>(undefined, help, value, (text) => text);

const flags = {
  Server: {
    identity: optional('Names of API groups: plat, kubernetes (stock names), or a JSON file with others.', 'NAME|FILE'),
    'api-release': optional('Release of the API to serve, from 1.15 to 1.27.', 'RELEASE'),
    store: optional('Where to store objects: lmdb, memory or etcd.', 'lmdb|memory|etcd'),
    wait: {
      ...flag<number | undefined>(undefined, 'Wait until the server is ready.', '[=SECONDS]', (text) =>
        text === 'true' ? WAIT_SECONDS : text === 'false' ? undefined : readInteger(text, 1, 86_400),
      ),
      isSwitch: true,
      defaultText: `${WAIT_SECONDS} seconds when it is given without a value`,
    },
  },
  'Client configuration': {
    kubeconfig: file('The file that gets an entry for the server; else PLATCONFIG, KUBECONFIG, ~/.kube/config.'),
    'use-context': bool(false, 'Make the context of the server the current one, even if another is current.'),
  },
  Output: {
    output: outputFlag(['json', 'kubeconfig', 'name'], "Output format; kubeconfig: the path of the server's own configuration file."),
  },
};
type UpOptions = ReturnType<typeof defaultOptions<typeof flags>>;

/** `program`: what is run as the server. */
export const upCommand = (program: () => OwnProgram): Command =>
  command({
    usage: '[NAME] [flags] [-- server flags]',
    summary: 'Start a server in the background.',
    flags,
    more: `Examples:
  plat up                                       a server with the name default
  plat up ci --identity kubernetes --store memory --wait
  plat up next --api-release 1.25               the API of another release
  plat up dev -- --secure-port 7443 --v 2       any flag of plat server
  KUBECONFIG=$(plat up ci --wait -o kubeconfig) && export KUBECONFIG
`,
    async run({ options, args }, io) {
      const hasName = args[0] !== undefined && !args[0].startsWith('-');
      const name = checkName(hasName ? (args[0] as string) : 'default');
      const givenArgs = serverArgs(options, hasName ? args.slice(1) : args);
      const records = new Records(io);
      const record = await records.claim(name, () => begin({ name, givenArgs, options, records, io, clock: io.clock, program }));
      report(record, records, options, io);
      return 0;
    },
  });

/** Flags of the server, checked. */
function serverArgs({ identity, apiRelease, store }: UpOptions, rest: readonly string[]): readonly string[] {
  const args = [
    ...(identity === undefined ? [] : [`--identity=${identity}`]),
    ...(apiRelease === undefined ? [] : [`--api-release=${apiRelease}`]),
    ...(store === undefined ? [] : [`--store=${store}`]),
    ...rest,
  ];
  if (parseServerFlags(args) === 'help') throw new FlagError('`plat help server` shows the flags of a server');
  if (rawFlags(serverFlags, args).raw.has('data-dir'))
    throw new FlagError('--data-dir cannot be used with plat up: each server has a directory of its own');
  return args;
}

interface Start {
  readonly clock: Clock;
  readonly program: () => OwnProgram;
  readonly name: string;
  readonly givenArgs: readonly string[];
  readonly options: UpOptions;
  readonly records: Records;
  readonly io: IO;
}

/** A server that runs with these flags is left alone; without flags it keeps those of its last start. */
async function begin(start: Start): Promise<ServerRecord> {
  const { name, givenArgs, options, records, io } = start;
  const existingRecord = await records.read(name);
  const deadline = start.clock.monotonic() + (options.wait ?? WAIT_SECONDS) * 1000;
  const same =
    existingRecord !== undefined && (givenArgs.length === 0 || JSON.stringify(givenArgs) === JSON.stringify(existingRecord.flags));
  if (existingRecord !== undefined && isUp(existingRecord)) {
    if (!same)
      throw new Error(
        `${name} is running with other flags (${existingRecord.flags.join(' ') || 'none'}): \`plat down ${name}\` first, or choose another name`,
      );
    if (options.output === '') io.err(`plat: ${name} is already running\n`);
    return finish(start, existingRecord, deadline);
  }
  // The process may have exited by itself and left its entry.
  if (existingRecord !== undefined) await removeEntry(existingRecord, start.clock);
  const kubeconfig = entryFile(options.kubeconfig, io);
  const context = contextName(name);
  await checkEntry(kubeconfig, context);
  const [args, cwd] = same && givenArgs.length === 0 ? [existingRecord.flags, existingRecord.cwd] : [givenArgs, io.cwd];
  const { identity, store } = parseServerFlags(args) as ServerOptions;
  const record = { name, address: '', identity, store, flags: args, cwd, kubeconfig, context };
  return launch(start, record, existingRecord, deadline);
}

/** Completes an interrupted start of a running server, and changes the client configuration as the flags say. */
async function finish(start: Start, existingRecord: ServerRecord, deadline: number): Promise<ServerRecord> {
  const { name, options, records, clock, io } = start;
  const adminConfig = records.adminConfig(name);
  let record = existingRecord;
  if (record.address === '') {
    await until(
      async () => existsSync(adminConfig),
      () => exitReason(record),
      deadline,
      clock,
    );
    record = { ...record, address: await addressOf(adminConfig) };
    await records.write(record);
  }
  const file = options.kubeconfig === undefined ? record.kubeconfig : entryFile(options.kubeconfig, io);
  const there = await checkEntry(file, record.context, record.address);
  const { kubeconfig, moreKubeconfigs = [] } = record;
  if (file !== kubeconfig && !moreKubeconfigs.includes(file)) {
    if (moreKubeconfigs.length === MOST_KUBECONFIGS)
      throw new Error(
        `${name} has entries in ${MOST_KUBECONFIGS + 1} client configurations, and can have no more: \`plat down ${name}\` removes them`,
      );
    record = { ...record, moreKubeconfigs: [...moreKubeconfigs, file] };
    await records.write(record);
  }
  if (!there || options.useContext) await writeEntry(file, record.context, adminConfig, options.useContext, clock);
  if (options.wait !== undefined) await ready(start, record, deadline);
  return record;
}
const exitReason = (record: ServerRecord): string | undefined => (isUp(record) ? undefined : 'it exited');

/** Starts the server on the port of its last start if that is free, else on any, unless its flags name one. */
async function launch(
  start: Start,
  record: ServerRecord,
  existingRecord: ServerRecord | undefined,
  deadline: number,
): Promise<ServerRecord> {
  if (rawFlags(serverFlags, record.flags).raw.has('secure-port')) return attempt(start, record, existingRecord, [], deadline);
  const { bindAddress } = parseServerFlags(record.flags) as ServerOptions;
  const port = Number(URL.canParse(existingRecord?.address ?? '') ? new URL(existingRecord?.address as string).port : 0);
  const isPortTaken = async (): Promise<boolean> => port !== 0 && !(await isFree(bindAddress, port));
  const onAnother = (): Promise<ServerRecord> => {
    if (port !== 0) start.io.err(`plat: ${start.name} gets another port: ${port}, which it had before, is in use\n`);
    return attempt(start, record, existingRecord, ['--secure-port=0'], deadline);
  };
  if (port === 0 || (await isPortTaken())) return onAnother();
  return attempt(start, record, existingRecord, [`--secure-port=${port}`], deadline).catch(async (error: unknown) => {
    // Another program may have taken it meanwhile.
    if (await isPortTaken()) return onAnother();
    throw error;
  });
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

async function attempt(
  start: Start,
  record: ServerRecord,
  existingRecord: ServerRecord | undefined,
  port: readonly string[],
  deadline: number,
): Promise<ServerRecord> {
  const { name, options, records, clock } = start;
  const adminConfig = records.adminConfig(name);
  makeDirectory(records.dataDirectory(name), 0o700);
  // The server writes this file when it has started.
  await rm(adminConfig, { force: true });
  let running = record;
  let child: ChildProcess | undefined;
  try {
    child = await spawnServer(start, record, port);
    running = { ...record, process: processOf(child.pid as number) };
    await records.write(running);
    // The process is recorded: let it start the server.
    child.stdin?.end('\n');
    await until(
      async () => existsSync(adminConfig),
      () => exited(child as ChildProcess),
      deadline,
      clock,
    );
    running = { ...running, address: await addressOf(adminConfig) };
    await records.write(running);
    await writeEntry(running.kubeconfig, running.context, adminConfig, options.useContext, clock);
    if (options.wait !== undefined) await ready(start, running, deadline);
    return running;
  } catch (error) {
    const lines = await lastLines(records.logFile(name));
    if (running.process !== undefined) await stopProcess(running.process, clock);
    const removed = await removeEntry(running, clock).then(
      () => true,
      () => false,
    );
    // A record with entries left is kept for `plat down`.
    if (existingRecord === undefined && removed) await records.remove(name);
    else await records.write({ ...running, address: running.address || (existingRecord?.address ?? ''), process: undefined });
    throw new Error(`${name} did not start: ${(error as Error).message}${lines === '' ? '' : `; its log ends with\n\n${lines}`}`);
  } finally {
    child?.unref();
  }
}

async function spawnServer(
  { name, records, program, io }: Start,
  { flags: args, cwd }: ServerRecord,
  port: readonly string[],
): Promise<ChildProcess> {
  if (!existsSync(cwd))
    throw new Error(
      `the directory ${cwd}, which its flags are relative to, does not exist any more: create it, or give the flags again from another directory`,
    );
  const [command = '', ...first] = program().plat;
  const serverArgs = [...first, 'server', `--data-dir=${records.dataDirectory(name)}`, ...port, ...args];
  const log = await newLog(records.logFile(name));
  try {
    const child = spawn(command, serverArgs, {
      cwd,
      detached: true,
      windowsHide: true,
      env: { ...io.env, [LOG_VARIABLE]: records.logFile(name), [WAIT_VARIABLE]: '1' },
      stdio: ['pipe', log.fd, log.fd],
    });
    // A process that has exited does not read the line; its exit is reported.
    child.stdin?.on('error', () => {});
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return child;
  } finally {
    await log.close();
  }
}
/** Each start has a log of its own, and the one before it is kept: no more than two files, each bounded (log-file.ts). */
async function newLog(path: string): Promise<FileHandle> {
  await rename(path, previousLog(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  // The server empties it when it grows too large: each process that has it open writes at its end.
  return open(path, 'a', 0o600);
}

/** How a child exited; undefined while it runs. */
function exited({ exitCode, signalCode }: ChildProcess): string | undefined {
  if (signalCode !== null) return 'it was terminated by a signal';
  return exitCode === null ? undefined : `it exited with code ${exitCode}`;
}

/** Waits for a condition while the server runs. Throws if the server exits or the deadline passes. */
async function until(done: () => Promise<boolean>, over: () => string | undefined, deadline: number, clock: Clock): Promise<void> {
  while (!(await done())) {
    const why = over();
    if (why !== undefined) throw new Error(why);
    if (clock.monotonic() >= deadline) throw new Error('timed out');
    await clock.sleep(POLL_MS);
  }
}

async function ready({ name, records, clock, io }: Start, record: ServerRecord, deadline: number): Promise<void> {
  const options = { ...defaultOptions({ Connecting: connectFlags }), kubeconfig: records.adminConfig(name) };
  const { transport } = await connect(options, undefined, io);
  const isReady = (): Promise<boolean> =>
    transport.text({ path: '/readyz', timeout: 5000 }).then(
      () => true,
      () => false,
    );
  try {
    await until(isReady, () => exitReason(record), deadline, clock);
  } finally {
    transport.close();
  }
}

async function addressOf(adminConfig: string): Promise<string> {
  return /^ {4}server: (\S+)$/m.exec(await readFile(adminConfig, 'utf8'))?.[1] ?? '';
}
async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
}

function report(record: ServerRecord, records: Records, { output }: UpOptions, io: IO): void {
  const { name, address, identity, store, context, kubeconfig } = record;
  if (output === 'json') io.out(`${jsonText(asJson(records, record), 2)}\n`);
  else if (output === 'kubeconfig') io.out(`${records.adminConfig(name)}\n`);
  else if (output === 'name') io.out(`${name}\n`);
  else
    io.out(`${name} is running at ${address}  identity ${identity}  store ${store}
context ${context} in ${kubeconfig}

  plat get namespaces --context ${context}
  kubectl --context ${context} get namespaces
  plat console --context ${context}
  plat down ${name}

`);
}

export const up: Command = upCommand(ownProgram);
