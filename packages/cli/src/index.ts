/** The commands of `plat`, one line each, and the dispatch of a command line. */
import { FlagError } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import { type Arities, commandBelow, entryOf, type FoundCommand, flagsLast, isFlag } from './arguments.ts';
import type { Command, CommandEntry, Failure, IO } from './command.ts';
import { commandLines } from './command-group.ts';
import { withSafeErrors } from './output/screen-text.ts';
import { asCalled, errorLines, exitCodeOf, isStock, programName, unknownCommand } from './program.ts';
import { shownHelp } from './terminal/help-text.ts';
import { repeatedFlags } from './terminal/repeated-flags.ts';

/** Services first, then in alphabetical order. */
export const commands: readonly CommandEntry[] = [
  { name: 'server', own: true, summary: 'Run the API server.', load: async () => (await import('./server.ts')).server },
  {
    name: 'controllers',
    own: true,
    summary: 'Run the controllers for servers.',
    load: async () => (await import('./controllers.ts')).controllers,
  },
  { name: 'alpha', summary: 'Commands that may change.', load: async () => (await import('./alpha.ts')).alpha },
  { name: 'annotate', summary: 'Change annotations.', load: async () => (await import('./labels/annotate.ts')).annotate },
  {
    name: 'api-resources',
    summary: 'List the resources of the server.',
    load: async () => (await import('./discovery/api-resources.ts')).apiResources,
  },
  {
    name: 'api-versions',
    summary: 'List the API versions of the server.',
    load: async () => (await import('./discovery/api-versions.ts')).apiVersions,
  },
  { name: 'apply', summary: 'Create or update objects from files.', load: async () => (await import('./apply.ts')).apply },
  { name: 'attach', summary: 'Attach to a running container.', load: async () => (await import('./pods/exec.ts')).attach },
  { name: 'auth', summary: 'Show your identity and permissions.', load: async () => (await import('./auth/index.ts')).auth },
  {
    name: 'autoscale',
    summary: 'Create an autoscaler for a workload.',
    load: async () => (await import('./create/autoscale.ts')).autoscale,
  },
  {
    name: 'certificate',
    summary: 'Approve or deny certificate signing requests.',
    load: async () => (await import('./objects/certificate.ts')).certificate,
  },
  {
    name: 'check',
    own: true,
    summary: 'Find what uses versions that a release removes or deprecates.',
    load: async () => (await import('./check/index.ts')).check,
  },
  {
    name: 'cluster-info',
    summary: 'Show addresses of the control plane, or dump objects and logs for debugging.',
    load: async () => (await import('./discovery/cluster-info.ts')).clusterInfo,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes command lines.',
    load: async () => (await import('./terminal/completion.ts')).completion,
  },
  { name: 'config', summary: 'Show and change the client configuration.', load: async () => (await import('./config/index.ts')).config },
  {
    name: 'console',
    own: true,
    summary: 'Open the console in a browser, for any server.',
    load: async () => (await import('./console/console.ts')).consoleCommand,
  },
  {
    name: 'convert',
    summary: 'Convert manifests to another API version.',
    load: async () => (await import('./convert/index.ts')).convert,
  },
  { name: 'cordon', summary: 'Mark nodes as unschedulable.', load: async () => (await import('./pods/cordon.ts')).cordon },
  {
    name: 'cp',
    summary: 'Copy files and directories to and from containers.',
    load: async () => (await import('./cp/index.ts')).cp,
  },
  { name: 'create', summary: 'Create objects from files or flags.', load: async () => (await import('./create/create.ts')).create },
  { name: 'debug', summary: 'Debug a pod or a node.', load: async () => (await import('./pods/debug.ts')).debug },
  { name: 'delete', summary: 'Delete objects.', load: async () => (await import('./objects/delete.ts')).del },
  {
    name: 'describe',
    summary: 'Show details of objects, with their events.',
    load: async () => (await import('./describe/index.ts')).describe,
  },
  { name: 'diff', summary: 'Show what an apply would change, or what changed.', load: async () => (await import('./edit/diff.ts')).diff },
  {
    name: 'down',
    own: true,
    summary: 'Stop servers that plat up started, and remove them.',
    load: async () => (await import('./background/down.ts')).down,
  },
  { name: 'drain', summary: 'Drain nodes for maintenance.', load: async () => (await import('./pods/drain.ts')).drain },
  { name: 'edit', summary: 'Edit objects in an editor.', load: async () => (await import('./edit/edit.ts')).edit },
  {
    name: 'envtest',
    own: true,
    summary: "Print a directory with kube-apiserver, etcd and kubectl for Go's envtest.",
    load: async () => (await import('./envtest/index.ts')).envtest,
  },
  { name: 'events', summary: 'List events.', load: async () => (await import('./objects/events.ts')).events },
  { name: 'exec', summary: 'Run a command in a container.', load: async () => (await import('./pods/exec.ts')).exec },
  { name: 'explain', summary: 'Show the fields of a type.', load: async () => (await import('./discovery/explain.ts')).explain },
  {
    name: 'expose',
    summary: 'Create a service for a pod, a workload or a service.',
    load: async () => (await import('./create/expose.ts')).expose,
  },
  { name: 'get', summary: 'Show objects.', load: async () => (await import('./get/get.ts')).get },
  {
    name: 'history',
    own: true,
    summary: 'Show the changes of objects, and who made them.',
    load: async () => (await import('./history/history.ts')).history,
  },
  {
    name: 'kustomize',
    summary: 'Print the objects of a kustomization.',
    load: async () => (await import('./kustomize.ts')).kustomizeCommand,
  },
  { name: 'label', summary: 'Change labels.', load: async () => (await import('./labels/label.ts')).label },
  {
    name: 'list',
    own: true,
    summary: 'List the servers that plat up started.',
    load: async () => (await import('./background/list.ts')).list,
  },
  { name: 'log', own: true, summary: 'Show what changed in a namespace.', load: async () => (await import('./history/log.ts')).log },
  { name: 'logs', summary: 'Print the logs of containers.', load: async () => (await import('./pods/logs.ts')).logs },
  {
    name: 'options',
    summary: 'List the global flags.',
    load: async () => (await import('./options.ts')).options,
  },
  {
    name: 'owners',
    own: true,
    summary: 'Show and repair who owns the fields of an object.',
    load: async () => (await import('./owners/index.ts')).owners,
  },
  { name: 'patch', summary: 'Update fields of objects with a patch.', load: async () => (await import('./edit/patch.ts')).patch },
  { name: 'plugin', summary: 'List plug-ins.', load: async () => (await import('./plugin.ts')).pluginCommand(commandNamesAs) },
  {
    name: 'port-forward',
    summary: 'Forward local ports to a pod.',
    load: async () => (await import('./pods/port-forward.ts')).portForward,
  },
  { name: 'proxy', summary: 'Serve the API on a local port.', load: async () => (await import('./pods/proxy.ts')).proxy },
  { name: 'replace', summary: 'Replace objects with those of files.', load: async () => (await import('./edit/replace.ts')).replace },
  { name: 'rollout', summary: 'Manage rollouts of workloads.', load: async () => (await import('./rollout/index.ts')).rollout },
  { name: 'run', summary: 'Run a pod.', load: async () => (await import('./create/run.ts')).run },
  { name: 'scale', summary: 'Set the number of replicas.', load: async () => (await import('./objects/scale.ts')).scale },
  {
    name: 'set',
    summary: 'Set images, variables, resources and other fields of objects.',
    load: async () => (await import('./set/index.ts')).set,
  },
  {
    name: 'store',
    own: true,
    summary: 'Back up, restore, check and repair the store.',
    load: async () => (await import('./store/index.ts')).store,
  },
  { name: 'taint', summary: 'Change taints of nodes.', load: async () => (await import('./labels/taint.ts')).taint },
  { name: 'top', summary: 'Show the usage of nodes and pods.', load: async () => (await import('./top/index.ts')).top },
  {
    name: 'tree',
    own: true,
    summary: 'Show the owners and dependents of an object.',
    load: async () => (await import('./tree/index.ts')).tree,
  },
  { name: 'uncordon', summary: 'Mark nodes as schedulable.', load: async () => (await import('./pods/cordon.ts')).uncordon },
  { name: 'undo', own: true, summary: 'Take back changes of objects.', load: async () => (await import('./history/undo.ts')).undo },
  { name: 'up', own: true, summary: 'Start a server in the background.', load: async () => (await import('./background/up.ts')).up },
  { name: 'version', summary: 'Show the version.', load: async () => (await import('./version.ts')).version },
  {
    name: 'wait',
    summary: 'Wait for a condition.',
    load: async () => (await import('./objects/wait.ts')).wait,
  },
  { name: 'who', own: true, summary: 'List who may do something.', load: async () => (await import('./why/who-can.ts')).who },
  { name: 'why', own: true, summary: 'Explain decisions of the server.', load: async () => (await import('./why/index.ts')).why },
];

/** The commands by the name that the program was called by. */
const commandsAs = (io: Pick<IO, 'program'>): readonly CommandEntry[] => (isStock(io) ? commands.filter(({ own }) => !own) : commands);

const commandNamesAs = (io: IO): ReadonlySet<string> => new Set(commandsAs(io).map(({ name }) => name));

/** Runs a command line. Returns the exit code: 0, 1 for a failure, 2 for wrong usage (1 as kubectl). */
export async function run(args: readonly string[], io: IO, table: readonly CommandEntry[] = commandsAs(io)): Promise<number> {
  const failures: Failure[] = [];
  const safe = withSafeErrors(io);
  // The words of the stock client depend on how many errors there are.
  const fail = (failure: Failure): void => (isStock(io) ? void failures.push(failure) : safe.err(errorLines([failure], safe)));
  try {
    return await dispatch(args, { ...safe, fail }, table);
  } catch (error) {
    fail({ error });
    return exitCodeOf(error, safe);
  } finally {
    if (failures.length > 0) safe.err(errorLines(failures, safe));
  }
}

async function dispatch(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') return help([], io, table);
  if (name === 'help') return help(rest, io, table);
  if (name === '--version' || (name === '-v' && rest.length === 0)) return dispatch(['version', '--client'], io, table);
  if (isFlag(name)) return dispatch(await commandFirst(args, io, table), io, table);
  // For completion scripts; not listed in help.
  if (name === '__complete') {
    const { argsToComplete, complete } = await import('./terminal/complete.ts');
    return complete(argsToComplete(rest), io, table);
  }
  // For the programs that `plat envtest` writes.
  if (name === '__kube-apiserver') return (await import('./envtest/apiserver.ts')).runApiserver(rest, io);
  if (entryOf(name, table) === undefined) {
    const { findPlugin, runPlugin } = await import('./plugin.ts');
    const plugin = findPlugin(args, io);
    if (plugin !== undefined) return runPlugin(plugin, io);
  }
  const { command, path, own } = await descend(args, table, io);
  return wantsHelp(own) ? showHelp(path, command, io) : runCommand(command, path, own, io);
}

/** Arguments after `--` are not ours. */
function wantsHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
}

async function runCommand(command: Command, path: readonly string[], args: readonly string[], io: IO): Promise<number> {
  if (!isStock(io)) return runOwn(command, args, io);
  const own = (await import('./stock-flags.ts')).withoutStockFlags(args, command, io);
  try {
    return await profiled(command, own, io);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    const { stockText, stockMessage = error.message } = error;
    if (stockText !== undefined) throw error;
    throw new FlagError(`${asCalled(stockMessage, io)}\nSee '${programName(io)} ${path.join(' ')} --help' for usage.`);
  }
}

/** Commands that its errors name repeat the flags about the server. */
async function runOwn(command: Command, args: readonly string[], io: IO): Promise<number> {
  const called = { ...io, repeatedFlags: repeatedFlags(command.flags, args) };
  const fail = (failure: Failure): void => io.err(errorLines([failure], called));
  try {
    return await profiled(command, args, { ...called, fail });
  } catch (error) {
    fail({ error });
    return exitCodeOf(error, called);
  }
}

async function profiled(command: Command, args: readonly string[], io: IO): Promise<number> {
  if (!args.some((word) => word.startsWith('--profile'))) return command.run(args, io);
  return (await import('./profile.ts')).profiled(args, io, () => command.run(args, io));
}

async function globalFlags(io: IO): Promise<Arities> {
  const { connectFlags, logFileFlags } = await import('./global-flags.ts');
  const stock = isStock(io) ? Object.fromEntries([...logFileFlags].map(([name, isSwitch]) => [name, { isSwitch }])) : {};
  return { connectFlags, stock };
}

/** Flags may come before the command: `plat -n team get pods`. They are moved behind its name. */
async function commandFirst(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<readonly string[]> {
  const commandArgs = flagsLast(args, await globalFlags(io), table);
  if (isFlag(commandArgs[0] as string)) throw new FlagError(`a command is missing; \`${programName(io)} help\` lists them`);
  return commandArgs;
}

async function descend(args: readonly string[], table: readonly CommandEntry[], io: IO): Promise<FoundCommand> {
  return commandBelow(find(args[0] as string, table, io), args.slice(1), await globalFlags(io));
}

function find(name: string, table: readonly CommandEntry[], io: IO): CommandEntry {
  const entry = entryOf(name, table);
  if (entry !== undefined) return entry;
  const names = [...table.map((c) => c.name), 'help'];
  if (isStock(io)) throw new FlagError(unknownCommand(name, names, io));
  throw new FlagError(`unknown command ${JSON.stringify(name)}${didYouMean(name, names)}; \`plat help\` lists them`);
}

const helpEntry = { name: 'help', summary: 'Show this, or the help of a command: plat help server' };

async function help(about: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  const words = about.filter((word) => !isFlag(word));
  if (words[0] === 'help') {
    io.out(
      shownHelp(
        'plat help [COMMAND]\n\nShow the help of a command, or list all commands: plat help, plat help get, plat help create token\n',
        io,
      ),
    );
    return 0;
  }
  if (words[0] !== undefined) {
    const { command, path, own } = await descend(words, table, io);
    const [unknown] = command.commands === undefined ? [] : own;
    if (unknown !== undefined && command.usage.startsWith('COMMAND')) return command.run(own, io);
    return showHelp(path, command, io);
  }
  const text = `plat: an API server for declarative control planes, and its client.

Commands:
${commandLines([...table, helpEntry])}

Begin with:
  plat up --identity kubernetes --wait     a server with stock names, in the background
  plat get namespaces
  plat down default                        stops and removes it

\`plat options\` lists the flags that all commands share.
`;
  io.out(shownHelp(text, io));
  return 0;
}
async function showHelp(path: readonly string[], command: Command, io: IO): Promise<number> {
  const usage = command.usage === '' ? '' : ` ${command.usage}`;
  const { page } = await import('./output/pager.ts');
  await page(io, shownHelp(`plat ${path.join(' ')}${usage}\n\n${command.summary}\n\n${command.help(io.width)}`, io));
  return 0;
}
