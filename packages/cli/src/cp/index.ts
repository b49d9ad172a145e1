/** `plat cp`: copies files and directories to and from containers, by a tar program that the container has. */
import { existsSync } from 'node:fs';
import { basename, posix, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { bool, type FlagValues, int, text } from '@plat-dev/lib/flags';
import { TarReader } from '@plat-dev/streams/tar/read';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { ConnectionLost, type RemoteStreams, runRemote } from '../pods/remote-command.ts';
import { chosenContainer, type Pod, podPath } from '../pods/select-pods.ts';
import { shellQuoted } from '../terminal/shell-word.ts';
import { type Work, withServer } from '../work.ts';
import { pack } from './pack.ts';
import { archivePrefix, cleanRemote, type Place, readPlaces } from './places.ts';
import { Unpacker } from './unpack.ts';

const table = {
  Container: {
    namespace: namespaceFlag,
    container: text('', 'The container.', { short: 'c', value: 'NAME', defaultText: 'the one that the pod names, else its first' }),
  },
  Copying: {
    'no-preserve': bool(false, 'Do not keep owner and permissions of files that are copied to the container.'),
    retries: int(0, 'How often a copy from a container is resumed when the connection breaks; negative is unlimited.', {
      min: Number.MIN_SAFE_INTEGER,
    }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const cp = command({
  usage: 'SOURCE DESTINATION [flags]',
  summary: 'Copy files and directories to and from containers.',
  flags: table,
  more: `
A path in a container is [NAMESPACE/]POD:PATH. The container must have tar. Links in a directory that is copied from a container
are skipped, and nothing is written outside of the destination.

Examples:
  plat cp notes.txt web:/tmp/notes.txt
  plat cp web:/var/log ./logs -c main
  plat cp team/web:/data/dump.sql dump.sql --retries=3

Exit codes:
  0     everything was copied
  1     the copy failed
  2     the command line is wrong
  130   interrupted
`,
  async run({ options, args }, io) {
    const { from, to } = readPlaces(args, io.platform);
    if (to.pod !== '' && !existsSync(resolve(io.cwd, from.path))) throw new Error(`${from.path} doesn't exist in local filesystem`);
    return withServer(options, io, async (work) => {
      const copy = await Copy.begin(work, from.pod === '' ? to : from, options);
      return from.pod === '' ? copy.upload(from.path, to.path) : copy.download(from.path, to.path);
    });
  },
});

class Copy {
  private readonly work: Work;
  private readonly options: Options;
  private readonly remote: { readonly namespace: string; readonly pod: string; readonly container: string };

  private constructor(work: Work, options: Options, remote: Copy['remote']) {
    this.work = work;
    this.options = options;
    this.remote = remote;
  }
  static async begin(work: Work, { pod: name, namespace = work.namespace }: Place, options: Options): Promise<Copy> {
    const { transport, timeout } = work.session;
    const pod = await transport.object<Pod>({ path: podPath(namespace, name), signal: work.signal, ...timeout });
    return new Copy(work, options, { namespace, pod: name, container: chosenContainer(work, pod, options.container) });
  }
  private run(command: readonly string[], streams: RemoteStreams): Promise<number> {
    const stdin = streams.input !== undefined;
    return runRemote(this.work, { what: 'exec', ...this.remote, command, stdin, tty: false }, streams);
  }

  async upload(from: string, to: string): Promise<number> {
    const { terminal } = this.work.io;
    const local = resolve(this.work.io.cwd, from);
    const quiet = { out: () => {}, err: () => {} };
    const isDirectory = (await this.run(['test', '-d', to], quiet)) === 0;
    const target = isDirectory ? posix.join(cleanRemote(to), basename(local)) : cleanRemote(to);
    const preserve = this.options.noPreserve ? ['--no-same-permissions', '--no-same-owner'] : [];
    const input = Readable.from(pack(local, posix.basename(target)), { objectMode: false });
    let failure: Error | undefined;
    input.on('error', (error) => {
      failure = error;
    });
    const code = await this.run(['tar', ...preserve, '-xmf', '-', '-C', posix.dirname(target)], {
      input,
      out: (bytes) => terminal.write(bytes),
      err: (bytes) => terminal.writeError(bytes),
    }).catch((error: unknown) => {
      throw failure ?? error;
    });
    if (code !== 0) throw new Error(`tar in the container ended with exit code ${code}`);
    return 0;
  }

  async download(from: string, to: string): Promise<number> {
    const { io } = this.work;
    const unpacker = new Unpacker({
      prefix: archivePrefix(from),
      target: resolve(io.cwd, to),
      base: posix.basename(cleanRemote(from)),
      warn: (line) => io.err(`warning: ${line}\n`),
    });
    const reader = new TarReader((entry) => unpacker.open(entry));
    let received = 0;
    const streams: RemoteStreams = {
      out(bytes) {
        received += bytes.length;
        reader.push(bytes);
      },
      err: (bytes) => io.terminal.writeError(bytes),
    };
    for (let retry = 0; ; retry++) {
      const code = await this.run(this.packing(from, received), streams).catch((error: unknown) => {
        if (!(error instanceof ConnectionLost) || this.work.signal.aborted || this.isLast(retry)) throw error;
        return undefined;
      });
      if (reader.ended || code === 0) {
        reader.end();
        break;
      }
      if (code !== undefined && this.options.retries === 0) throw new Error(`tar in the container ended with exit code ${code}`);
      if (this.isLast(retry)) throw new Error(`dropping out copy after ${retry} retries`);
      io.out(`Resuming copy at ${received} bytes, retry ${retry + 1}/${this.options.retries}\n`);
    }
    if (unpacker.count === 0) io.err('warning: nothing was copied\n');
    return 0;
  }
  private isLast(retry: number): boolean {
    const { retries } = this.options;
    return retries >= 0 && retry >= retries;
  }
  /** The archive from a byte on. */
  private packing(path: string, received: number): string[] {
    if (this.options.retries === 0) return ['tar', 'cf', '-', path];
    return ['sh', '-c', `tar cf - ${shellQuoted(path)} | tail -c+${received + 1}`];
  }
}
