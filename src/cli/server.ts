/** `plat server`: one process that serves the API until it is told to stop. */
import { basename, join, relative, resolve } from 'node:path';
import type { RunningServer } from '../compose/server.ts';
import { dataFiles, parseServerFlags, type ServerOptions, serverFlags, serverHelp } from '../flags.ts';
import { productVersion } from '../version.ts';
import type { Command, IO } from './command.ts';
import { stopSignal } from './stop-signal.ts';

/** What the command needs of a server that was started and is ready. */
export type StartedServer = Pick<RunningServer, 'address' | 'adminConfigPath' | 'ended' | 'close'>;
export type StartServer = (options: ServerOptions) => Promise<StartedServer>;

/** The command, with the function that starts a server passed in. */
export function serverCommand(start: StartServer): Command {
  return {
    usage: '[flags]',
    summary: 'Run the API server. Without flags it serves HTTPS on 127.0.0.1:6443 and keeps its data in .plat.',
    flags: serverFlags,
    help: serverHelp,
    async run(args, io) {
      const options = parseServerFlags(args);
      if (options === 'help') {
        io.out(serverHelp(io.width));
        return 0;
      }
      for (const warning of options.warnings) io.err(`plat: ${warning}\n`);
      return serve(start, options, io);
    },
  };
}

async function serve(start: StartServer, options: ServerOptions, io: IO): Promise<number> {
  const began = performance.now();
  const { stopped, asked, forget } = stopSignal(io);
  try {
    const server = await start(options);
    if (!asked()) io.out(readyText(server, options, io, performance.now() - began));
    const failed = await Promise.race([stopped, server.ended]);
    if (failed instanceof Error) throw failed;
    io.err('plat: stopping; once more to stop at once\n');
    await server.close();
    return 0;
  } finally {
    forget();
  }
}

/** What a person needs to know next. */
function readyText(server: StartedServer, options: ServerOptions, io: IO, millis: number): string {
  const store =
    options.store === 'etcd'
      ? `etcd at ${options.etcdServers.join(', ')}`
      : options.store === 'lmdb'
        ? `lmdb in ${options.dataDir}`
        : 'memory';
  const config = resolve(io.cwd, server.adminConfigPath);
  const found = config === join(io.cwd, '.plat', dataFiles.adminConfig);
  const shown = relative(io.cwd, config).startsWith('..') ? config : relative(io.cwd, config);
  return `plat ${productVersion} is ready at ${server.address}  identity ${options.identity}  store ${store}  after ${Math.round(millis)} ms

  ${selfCommand(io)} get namespaces${found ? '' : ` --kubeconfig ${shown}`}
  kubectl --kubeconfig ${shown} get ns

`;
}

/** How this program was called: by its name where it is installed, else by Node and its file. */
function selfCommand(io: IO): string {
  const file = process.argv[1] ?? '';
  return basename(file) === 'plat.js' ? `node ${relative(io.cwd, file)}` : 'plat';
}

export const server: Command = serverCommand(async (options) => (await import('../compose/server.ts')).startServer(options));
