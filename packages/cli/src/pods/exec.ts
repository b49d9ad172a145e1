/** `plat exec` and `plat attach`: run a command in a container, or attach to its main process. */
import { bool, duration, FlagError, type FlagValues, parseFlags, text } from '@plat-dev/lib/flags';
import { type Command, helpText, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { readManifests } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { runRemote } from './remote-command.ts';
import { chosenContainer, type Pod, podsOf } from './select-pods.ts';

const containerFlags = {
  namespace: namespaceFlag,
  container: text('', 'The container.', { short: 'c', value: 'NAME', defaultText: 'the one that the pod names, else its first' }),
  'pod-running-timeout': duration('1m', 'Time to wait until a workload has a pod.'),
};
const terminalFlags = {
  stdin: bool(false, 'Pass stdin to the container.', { short: 'i' }),
  tty: bool(false, 'Allocate a terminal; needs -i.', { short: 't' }),
  quiet: bool(false, 'Print only the output of the container.', { short: 'q' }),
};
const execTable = { Container: { ...containerFlags, filename: fileFlags.filename }, Terminal: terminalFlags, Connecting: connectFlags };
const attachTable = { Container: containerFlags, Terminal: terminalFlags, Connecting: connectFlags };
type Options = FlagValues<typeof attachTable>;

const exitCodes = `
Exit codes:
  that of the program, where it ran
  1   it could not be run, or the connection broke off
  2   the command line is wrong
  130 it was interrupted here
`;

export const exec: Command = {
  usage: 'POD | TYPE/NAME [flags] -- COMMAND [ARGUMENTS]',
  summary: 'Run a command in a container.',
  flags: execTable,
  help: (width) =>
    helpText(
      execTable,
      `Examples:
  plat exec web -- ls /tmp
  plat exec -it deployment/web -c main -- sh
  tar cf - notes | plat exec -i web -- tar xf - -C /tmp
${exitCodes}`,
      width,
    ),
  async run(argv, io) {
    const at = argv.indexOf('--');
    const after = at === -1 ? undefined : argv.slice(at + 1);
    const { options, args } = parseFlags(execTable, at === -1 ? argv : argv.slice(0, at));
    const { target, command } = commandOf(args, after, options.filename.length > 0, io);
    if (command.length === 0) throw new FlagError('command missing. For example: plat exec web -- ls /tmp');
    const execTarget = await targetOf(target, options.filename, io);
    return withServer(options, io, async (work) => {
      const pod = await chosenPod(work, execTarget, options);
      const container = chosenContainer(work, pod, options.container, options.quiet);
      const tty = options.tty && options.stdin;
      if (tty && !io.terminal.interactive) io.err('plat: stdin is not a terminal, but -t allocates one in the container\n');
      const code = await runRemote(work, { what: 'exec', pod: pod.metadata.name, container, command, stdin: options.stdin, tty });
      if (code !== 0 && isStock(io)) io.err(`command terminated with exit code ${code}\n`);
      return code;
    });
  },
};

/** The stock client still takes a command without the two dashes. */
function commandOf(
  args: readonly string[],
  after: readonly string[] | undefined,
  hasFile: boolean,
  io: IO,
): { target: string | undefined; command: readonly string[] } {
  const target = hasFile ? undefined : args[0];
  const rest = hasFile ? args : args.slice(1);
  if (rest.length === 0) return { target, command: after ?? [] };
  if (!isStock(io) || after !== undefined)
    throw new FlagError(`the command comes after two dashes: plat exec ${target ?? '-f FILE'} -- ${rest.join(' ')}`);
  io.err(
    'kubectl exec [POD] [COMMAND] is DEPRECATED and will be removed in a future version. Use kubectl exec [POD] -- [COMMAND] instead.\n',
  );
  return { target, command: rest };
}

export const attach: Command = {
  usage: 'POD | TYPE/NAME [flags]',
  summary: 'Attach to a running container.',
  flags: attachTable,
  help: (width) =>
    helpText(
      attachTable,
      `Examples:
  plat attach web
  plat attach web -c main -it
  plat attach deployment/web -q
${exitCodes}`,
      width,
    ),
  async run(argv, io) {
    const { options, args } = parseFlags(attachTable, argv);
    const [target, more] = args;
    if (target === undefined) throw new FlagError('pod missing. For example: plat attach web');
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    return withServer(options, io, async (work) => {
      const pod = await chosenPod(work, target, options);
      const container = chosenContainer(work, pod, options.container, options.quiet);
      // The program has a terminal or has none; that cannot be changed from here.
      const tty = pod.spec?.containers?.find(({ name }) => name === container)?.tty ?? false;
      if (options.tty && !tty) io.err(`plat: the container ${container} has no terminal, -t has no effect\n`);
      if (options.stdin && tty && !options.quiet) io.err("If you don't see a command prompt, try pressing enter.\n");
      return runRemote(work, { what: 'attach', pod: pod.metadata.name, container, command: [], stdin: options.stdin, tty });
    });
  },
};

async function targetOf(target: string | undefined, filename: readonly string[], io: IO): Promise<string> {
  if (filename.length === 0) {
    if (target === undefined) throw new FlagError('pod missing. For example: plat exec web -- ls /tmp');
    return target;
  }
  if (target !== undefined) throw new FlagError('a pod and -f exclude each other');
  const [manifest, more] = await readManifests(filename, false, io);
  if (manifest?.name === undefined || more !== undefined) throw new FlagError('-f must name one object that has a name');
  return `${manifest.object.kind}/${manifest.name}`;
}
async function chosenPod(work: Work, target: string, { podRunningTimeout }: Pick<Options, 'podRunningTimeout'>): Promise<Pod> {
  const [pod] = await podsOf(work, target, podRunningTimeout);
  if (pod === undefined) throw new Error(`there is no pod of ${target}`);
  const { phase = '' } = pod.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') throw new Error(`the pod ${pod.metadata.name} is not running (${phase})`);
  return pod;
}
