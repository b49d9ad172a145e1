/** `plat server`: serves the API until it is interrupted. */
import { basename, join, relative, resolve } from 'node:path';
import { dataFiles } from '@plat-dev/compose/config/data-files';
import { serverFlags } from '@plat-dev/compose/config/flags';
import { parseServerFlags, type ServerOptions, serverHelp } from '@plat-dev/compose/config/server-options';
import type { RunningServer } from '@plat-dev/compose/server';
import { type Log, openLog } from '@plat-dev/lib/log';
import { latestRelease, productVersion } from '@plat-dev/lib/version';
import { type Identity, kubernetes } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import { readIfPresent, writeSecretFile } from '@plat-dev/pki';
import { backgroundLogWriter } from './background/log-file.ts';
import { recordRunning } from './background/running-servers.ts';
import { isRecorded } from './background/wait.ts';
import type { Command, IO } from './command.ts';
import { stopSignal } from './terminal/stop-signal.ts';

/** The part of a running server that the command uses. */
export type StartedServer = Pick<RunningServer, 'address' | 'adminConfig' | 'adminConfigPath' | 'consoleLink' | 'ended' | 'close'>;
export type StartServer = (options: ServerOptions, log: Log | undefined) => Promise<StartedServer>;

const examples = `Examples:
  plat server                                        names of its own, data in .plat
  plat server --identity kubernetes --data-dir .stock
  plat server --identity kubernetes --store memory --secure-port 0
  plat server --store etcd --etcd-servers http://127.0.0.1:2379
`;

/** The command, with the function that starts a server passed in. */
export function serverCommand(start: StartServer): Command {
  return {
    usage: '[flags]',
    summary: 'Run the API server. Without flags it serves HTTPS on 127.0.0.1:6443 and keeps its data in .plat.',
    flags: serverFlags,
    help: (width) => `${serverHelp(width)}\n${examples}`,
    async run(args, io) {
      const options = parseServerFlags(args);
      if (options === 'help') {
        io.out(`${serverHelp(io.width)}\n${examples}`);
        return 0;
      }
      if (!(await isRecorded(io))) return 1;
      for (const warning of options.warnings) io.err(`plat: ${warning}\n`);
      return serve(start, options, io);
    },
  };
}

async function serve(start: StartServer, options: ServerOptions, io: IO): Promise<number> {
  const began = io.clock.monotonic();
  const { stopped, isStopping, forget } = stopSignal(io);
  let forgetRunning = async (): Promise<void> => {};
  const log = backgroundLog(options, io);
  try {
    const server = await start(options, log);
    const config = await configFile(server, io).catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
    forgetRunning = await recordRunning(io, server.address, config);
    if (!isStopping()) io.out(await readyText(server, config, options, io, io.clock.monotonic() - began));
    const failed = await Promise.race([stopped, server.ended]);
    if (failed instanceof Error) throw failed;
    io.err('plat: stopping; interrupt again to stop at once\n');
    await server.close();
    return 0;
  } finally {
    forget();
    await forgetRunning();
    log?.flush();
  }
}

/** The log of a server that `plat up` started; undefined: the usual one. */
function backgroundLog({ logFormat, v }: ServerOptions, io: IO): Log | undefined {
  const write = backgroundLogWriter(io);
  return write && openLog({ format: logFormat, verbosity: v, now: () => io.clock.now(), write });
}

/** Where the administrator's configuration is: a server in memory writes none, so this command writes it for later commands. */
async function configFile({ adminConfig, adminConfigPath, address }: StartedServer, io: IO): Promise<string> {
  if (adminConfigPath !== undefined) return resolve(io.cwd, adminConfigPath);
  const usual = join(io.cwd, '.plat', dataFiles.adminConfig);
  const other = readIfPresent(usual);
  // The file of another server is kept: it may be running, and its keys may be nowhere else.
  const own = other === undefined || other.includes(`server: ${address}\n`);
  const file = own ? usual : join(io.cwd, '.plat', `admin-${new URL(address).port || 443}.conf`);
  const { mergeAdminTexts } = await import('@plat-dev/compose/credentials/admin-config');
  await writeSecretFile(file, own && other !== undefined ? await mergeAdminTexts(other, adminConfig) : adminConfig);
  return file;
}

/** The start message. */
async function readyText(server: StartedServer, config: string, options: ServerOptions, io: IO, millis: number): Promise<string> {
  const store =
    options.store === 'etcd'
      ? `etcd at ${options.etcdServers.join(', ')}`
      : options.store === 'lmdb'
        ? `lmdb in ${options.dataDir}`
        : 'memory';
  const isDefaultConfig = config === join(io.cwd, '.plat', dataFiles.adminConfig);
  const displayPath = relative(io.cwd, config).startsWith('..') ? config : relative(io.cwd, config);
  const target = isDefaultConfig ? '' : ` --kubeconfig ${displayPath}`;
  return `plat ${productVersion} is ready at ${server.address}  identity ${options.identity}  store ${store}  after ${Math.round(millis)} ms

  ${selfCommand(io)} get namespaces${target}
  kubectl --kubeconfig ${displayPath} get ns
${consoleText(server.consoleLink, target, io)}
${namesText(identityOf(options.identity), io)}${releaseText(options)}${await historyText(options)}
`;
}

/** The link into the console: for whoever reads the output of this command, not for the log of a server in the background. */
function consoleText(link: string | undefined, target: string, io: IO): string {
  if (link === undefined || backgroundLogWriter(io) !== undefined) return '';
  return `\nConsole, for a browser on this machine (once, within 5 minutes; later \`${selfCommand(io)} console${target}\`):\n\n  ${link}\n`;
}

/** Which names the API has, and for those who have stock manifests how to get the stock ones. */
function namesText(identity: Identity, io: IO): string {
  const names = `Its API groups end in ${identity.groupSuffix}`;
  return identity.groupSuffix === kubernetes.groupSuffix
    ? `${names}, the stock names.\n`
    : `${names}. For manifests and tools with stock names (${kubernetes.groupSuffix}):\n\n  ${selfCommand(io)} server --identity ${kubernetes.name} --data-dir .plat-${kubernetes.name}\n`;
}

/** Which release of the API it is, for those who come with manifests and clients of newer ones. */
function releaseText({ identity, apiRelease }: ServerOptions): string {
  if (identityOf(identity).groupSuffix !== kubernetes.groupSuffix || apiRelease === latestRelease) return '';
  return `It is release ${apiRelease} of the API; the newest is ${latestRelease} (--api-release latest).\n`;
}

/** How to turn on what a server with stock names leaves out. */
async function historyText(options: ServerOptions): Promise<string> {
  const { historyVersion, servesHistory } = await import('@plat-dev/compose/api-release');
  const identity = identityOf(options.identity);
  if (servesHistory(options, identity)) return '';
  return `plat history, undo and why are off: --runtime-config ${historyVersion(identity)}=true turns them on.\n`;
}

/** How this program was called: by its name where it is installed, else by Node and its file. */
function selfCommand(io: IO): string {
  const file = process.argv[1] ?? '';
  return basename(file) === 'plat.js' ? `node ${relative(io.cwd, file)}` : 'plat';
}

export const server: Command = serverCommand(async (options, log) =>
  (await import('@plat-dev/compose/server')).startServer(options, { log }),
);
