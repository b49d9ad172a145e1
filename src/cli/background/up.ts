/** `plat up`: starts a server that goes on in the background, under a name. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { serverFlags } from '../../config/flags.ts';
import { parseServerFlags, type ServerOptions } from '../../config/server-options.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { makeDirectory } from '../../lib/directories.ts';
import { bool, defaultOptions, type Flag, FlagError, file, flag, rawFlags, readInteger } from '../../lib/flags.ts';
import { type Command, command, type IO } from '../command.ts';
import { connect, connectFlags } from '../connect.ts';
import { type OwnProgram, ownProgram } from '../own-program.ts';
import { checkEntry, contextName, entryFile, removeEntry, writeEntry } from './entry.ts';
import { keepAlive, POLL_MS, processOf, stopProcess } from './process.ts';
import { checkName, Records, type ServerRecord } from './records.ts';
import { asJson, current, isUp, outputFlag } from './view.ts';

/** How long a start may take when `--wait` says nothing else. */
const WAIT_SECONDS = 60;
/** Lines of the log that a start which failed shows. */
const SHOWN_LINES = 20;

const optional = (help: string, value: string): Flag<string | undefined> =>
  flag<string | undefined>(undefined, help, value, (text) => text);

const flags = {
  Server: {
    identity: optional('Names the server goes by: plat, kubernetes, or a JSON file with its own.', 'NAME|FILE'),
    store: optional('Where objects are kept: lmdb, memory or etcd.', 'lmdb|memory|etcd'),
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
    'use-context': bool(false, 'Make the context of the server the current one, also where there is one.'),
  },
  Output: {
    output: outputFlag(['json', 'kubeconfig', 'name'], "Form of the output; kubeconfig: the path of the server's own configuration file."),
  },
};
type UpOptions = ReturnType<typeof defaultOptions<typeof flags>>;

export interface UpSurroundings {
  readonly clock: Clock;
  readonly program: () => OwnProgram;
}

export const upCommand = (surroundings: UpSurroundings): Command =>
  command({
    usage: '[NAME] [flags] [-- server flags]',
    summary: 'Start a server in the background.',
    flags,
    more: `Examples:
  plat up                                       a server with the name default
  plat up ci --identity kubernetes --store memory --wait
  plat up dev -- --secure-port 7443 --v 2       any flag of plat server
  KUBECONFIG=$(plat up ci --wait -o kubeconfig) && export KUBECONFIG
`,
    async run({ options, args }, io) {
      const named = args[0] !== undefined && !args[0].startsWith('-');
      const name = checkName(named ? (args[0] as string) : 'default');
      const given = serverArgs(options, named ? args.slice(1) : args);
      const records = new Records(io);
      const record = await records.claim(name, () => begin({ name, given, options, records, io, ...surroundings }));
      report(record, records, options, io);
      return 0;
    },
  });

/** Flags of the server, checked. */
function serverArgs({ identity, store }: UpOptions, rest: readonly string[]): readonly string[] {
  const args = [
    ...(identity === undefined ? [] : [`--identity=${identity}`]),
    ...(store === undefined ? [] : [`--store=${store}`]),
    ...rest,
  ];
  if (parseServerFlags(args) === 'help') throw new FlagError('`plat help server` shows the flags of a server');
  if (rawFlags(serverFlags, args).raw.has('data-dir')) throw new FlagError('--data-dir: a server of plat up has a directory of its own');
  return args;
}

interface Start extends UpSurroundings {
  readonly name: string;
  readonly given: readonly string[];
  readonly options: UpOptions;
  readonly records: Records;
  readonly io: IO;
}

/** A server that runs with these flags stays as it is; without flags it is started, or left running, as it was. */
async function begin(start: Start): Promise<ServerRecord> {
  const { name, given, options, records, io } = start;
  const known = await current(records, name, start.clock);
  const same = known !== undefined && (given.length === 0 || JSON.stringify(given) === JSON.stringify(known.flags));
  if (known !== undefined && isUp(known)) {
    if (!same)
      throw new Error(
        `${name} is running with other flags (${known.flags.join(' ') || 'none'}): \`plat down ${name}\` first, or choose another name`,
      );
    if (options.output === '') io.err(`plat: ${name} is already running\n`);
    if (options.wait !== undefined) await ready(start, known, options.wait);
    return known;
  }
  const kubeconfig = entryFile(options.kubeconfig, io);
  const context = contextName(name);
  await checkEntry(kubeconfig, context);
  const [args, cwd] = same && given.length === 0 ? [known.flags, known.cwd] : [given, io.cwd];
  const { identity, store } = parseServerFlags(args) as ServerOptions;
  const record = { name, address: '', identity, store, flags: args, cwd, kubeconfig, context };
  return launch(start, record, known === undefined);
}

async function launch(start: Start, record: ServerRecord, isNew: boolean): Promise<ServerRecord> {
  const { name, options, records, clock } = start;
  const adminConfig = records.adminConfig(name);
  makeDirectory(records.dataDirectory(name), 0o700);
  // The start is over when the server has written it.
  await rm(adminConfig, { force: true });
  const child = await spawnServer(start, record);
  const release = keepAlive();
  let running = record;
  try {
    const process = processOf(child.pid ?? 0);
    running = { ...record, process };
    await records.write(running);
    const deadline = clock.monotonic() + (options.wait ?? WAIT_SECONDS) * 1000;
    await until(() => existsSync(adminConfig), child, deadline, clock);
    running = { ...running, address: await addressOf(adminConfig) };
    await records.write(running);
    await writeEntry(running.kubeconfig, running.context, adminConfig, options.useContext, clock);
    if (options.wait !== undefined) await ready(start, running, options.wait);
    return running;
  } catch (error) {
    const lines = await lastLines(records.logFile(name));
    if (running.process !== undefined) await stopProcess(running.process, clock);
    await removeEntry(running, clock);
    if (isNew) await records.remove(name);
    else await records.write({ ...record, process: undefined });
    throw new Error(`${name} did not start: ${(error as Error).message}${lines === '' ? '' : `; its log ends with\n\n${lines}`}`);
  } finally {
    release();
    child.unref();
  }
}

async function spawnServer({ name, records, program, io }: Start, { flags: args, cwd }: ServerRecord): Promise<ChildProcess> {
  const own = program();
  const [node, ...nodeFlags] = own.node as [string, ...string[]];
  const port = rawFlags(serverFlags, args).raw.has('secure-port') ? [] : ['--secure-port=0'];
  const log = await open(records.logFile(name), 'w', 0o600);
  try {
    return spawn(node, [...nodeFlags, own.file, 'server', `--data-dir=${records.dataDirectory(name)}`, ...port, ...args], {
      cwd,
      detached: true,
      env: { ...io.env },
      stdio: ['ignore', log.fd, log.fd],
    }).on('error', () => {});
  } finally {
    await log.close();
  }
}

/** Waits while the server lives. Throws where it ended, or the time is over. */
async function until(
  done: () => boolean | Promise<boolean>,
  child: ChildProcess | undefined,
  deadline: number,
  clock: Clock,
): Promise<void> {
  while (!(await done())) {
    if (child !== undefined && (child.pid === undefined || child.exitCode !== null || child.signalCode !== null))
      throw new Error(child.exitCode === null ? 'it was ended by a signal' : `it ended with exit code ${child.exitCode}`);
    if (clock.monotonic() >= deadline) throw new Error('the time to wait is over');
    await clock.sleep(POLL_MS);
  }
}

async function ready({ name, records, clock, io }: Start, record: ServerRecord, seconds: number): Promise<void> {
  const release = keepAlive();
  const options = { ...defaultOptions({ Connecting: connectFlags }), kubeconfig: records.adminConfig(name) };
  const { transport } = await connect(options, undefined, io);
  const isReady = (): Promise<boolean> =>
    transport.text({ path: '/readyz', timeout: 5000 }).then(
      () => true,
      () => false,
    );
  try {
    const answered = async (): Promise<boolean> => {
      if (!isUp(record)) throw new Error('it ended');
      return isReady();
    };
    await until(answered, undefined, clock.monotonic() + seconds * 1000, clock);
  } finally {
    transport.close();
    release();
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
  if (output === 'json') io.out(`${JSON.stringify(asJson(records, record), undefined, 2)}\n`);
  else if (output === 'kubeconfig') io.out(`${records.adminConfig(name)}\n`);
  else if (output === 'name') io.out(`${name}\n`);
  else
    io.out(`${name} is running at ${address}  identity ${identity}  store ${store}
context ${context} in ${kubeconfig}

  kubectl --context ${context} get ns
  plat down ${name}

`);
}

export const up: Command = upCommand({ clock: systemClock, program: ownProgram });
