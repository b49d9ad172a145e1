/** The commands of `plat`, one line each, and the dispatch of a command line. */
import { fileErrorText } from '../lib/file-errors.ts';
import { FlagError } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';
import { ApiError } from '../meta/errors.ts';
import type { Command, CommandEntry, IO } from './command.ts';
import { commandLines } from './command-group.ts';

/** Services first, then in alphabetical order. */
export const commands: readonly CommandEntry[] = [
  { name: 'server', summary: 'Run the API server.', load: async () => (await import('./server.ts')).server },
  {
    name: 'controllers',
    summary: 'Run the controllers for servers.',
    load: async () => (await import('./controllers.ts')).controllers,
  },
  { name: 'annotate', summary: 'Change annotations.', load: async () => (await import('./annotate.ts')).annotate },
  {
    name: 'api-resources',
    summary: 'List the resources of the server.',
    load: async () => (await import('./api-resources.ts')).apiResources,
  },
  {
    name: 'api-versions',
    summary: 'List the API versions of the server.',
    load: async () => (await import('./api-versions.ts')).apiVersions,
  },
  { name: 'apply', summary: 'Create or update objects from files.', load: async () => (await import('./apply.ts')).apply },
  { name: 'attach', summary: 'Attach to a running container.', load: async () => (await import('./exec.ts')).attach },
  { name: 'auth', summary: 'Show your identity and permissions.', load: async () => (await import('./auth/index.ts')).auth },
  {
    name: 'certificate',
    summary: 'Approve or deny certificate signing requests.',
    load: async () => (await import('./certificate.ts')).certificate,
  },
  {
    name: 'check',
    summary: 'Find what uses versions that a release removes or deprecates.',
    load: async () => (await import('./check/index.ts')).check,
  },
  {
    name: 'cluster-info',
    summary: 'Show addresses of the control plane, or dump objects and logs for debugging.',
    load: async () => (await import('./cluster-info.ts')).clusterInfo,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes command lines.',
    load: async () => (await import('./completion.ts')).completion,
  },
  { name: 'config', summary: 'Show and change the client configuration.', load: async () => (await import('./config/index.ts')).config },
  {
    name: 'convert',
    summary: 'Convert manifests to another API version.',
    load: async () => (await import('./convert/index.ts')).convert,
  },
  { name: 'create', summary: 'Create objects from files or flags.', load: async () => (await import('./create.ts')).create },
  { name: 'delete', summary: 'Delete objects.', load: async () => (await import('./delete.ts')).del },
  {
    name: 'describe',
    summary: 'Show details of objects, with their events.',
    load: async () => (await import('./describe/index.ts')).describe,
  },
  { name: 'diff', summary: 'Show what an apply would change.', load: async () => (await import('./diff.ts')).diff },
  {
    name: 'down',
    summary: 'Stop servers that plat up started, and remove them.',
    load: async () => (await import('./background/down.ts')).down,
  },
  { name: 'edit', summary: 'Edit objects in an editor.', load: async () => (await import('./edit.ts')).edit },
  {
    name: 'envtest',
    summary: "Print a directory with kube-apiserver, etcd and kubectl for Go's envtest.",
    load: async () => (await import('./envtest/index.ts')).envtest,
  },
  { name: 'events', summary: 'List events.', load: async () => (await import('./events.ts')).events },
  { name: 'exec', summary: 'Run a command in a container.', load: async () => (await import('./exec.ts')).exec },
  { name: 'explain', summary: 'Show the fields of a type.', load: async () => (await import('./explain.ts')).explain },
  { name: 'get', summary: 'Show objects.', load: async () => (await import('./get.ts')).get },
  { name: 'label', summary: 'Change labels.', load: async () => (await import('./label.ts')).label },
  { name: 'list', summary: 'List the servers that plat up started.', load: async () => (await import('./background/list.ts')).list },
  { name: 'logs', summary: 'Print the logs of containers.', load: async () => (await import('./logs.ts')).logs },
  {
    name: 'options',
    summary: 'List the global flags.',
    load: async () => (await import('./options.ts')).options,
  },
  { name: 'patch', summary: 'Update fields of objects with a patch.', load: async () => (await import('./patch.ts')).patch },
  {
    name: 'port-forward',
    summary: 'Forward local ports to a pod.',
    load: async () => (await import('./port-forward.ts')).portForward,
  },
  { name: 'proxy', summary: 'Serve the API on a local port.', load: async () => (await import('./proxy.ts')).proxy },
  { name: 'replace', summary: 'Replace objects with those of files.', load: async () => (await import('./replace.ts')).replace },
  { name: 'scale', summary: 'Set the number of replicas.', load: async () => (await import('./scale.ts')).scale },
  {
    name: 'store',
    summary: 'Back up, restore, check and repair the store.',
    load: async () => (await import('./store/index.ts')).store,
  },
  {
    name: 'tree',
    summary: 'Show the owners and dependents of an object.',
    load: async () => (await import('./tree/index.ts')).tree,
  },
  { name: 'up', summary: 'Start a server in the background.', load: async () => (await import('./background/up.ts')).up },
  { name: 'version', summary: 'Show the version.', load: async () => (await import('./version.ts')).version },
  {
    name: 'wait',
    summary: 'Wait for a condition.',
    load: async () => (await import('./wait.ts')).wait,
  },
];

/** Runs a command line. Returns the exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(args: readonly string[], io: IO, table: readonly CommandEntry[] = commands): Promise<number> {
  try {
    return await dispatch(args, io, table);
  } catch (error) {
    io.err(`plat: ${explain(error)}\n`);
    return isUsage(error) ? 2 : 1;
  }
}

async function dispatch(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  const [name, ...rest] = args;
  if (name !== undefined && isFlag(name) && !alone.has(name)) return dispatch(await commandFirst(args), io, table);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return help(rest, io, table);
  if (name === '--version' || name === '-v') return dispatch(['version', ...rest], io, table);
  // For completion scripts; not listed in help.
  if (name === '__complete') return (await import('./complete.ts')).complete(rest[0] === '--' ? rest.slice(1) : rest, io, table);
  // For the programs that `plat envtest` writes.
  if (name === '__kube-apiserver') return (await import('./envtest/apiserver.ts')).runApiserver(rest, io);
  const { command, path } = await descend(args, table);
  const own = args.slice(path.length);
  // Arguments after `--` are not ours.
  const end = own.indexOf('--');
  const wantsHelp = own.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
  return wantsHelp ? showHelp(path, command, io) : command.run(own, io);
}

const isFlag = (word: string): boolean => word.startsWith('-');
/** Flags that need no command. */
const alone: ReadonlySet<string> = new Set(['--help', '-h', '--version', '-v']);

/** Flags may come before the command: `plat -n team get pods`. They are moved behind its name. */
async function commandFirst(args: readonly string[]): Promise<readonly string[]> {
  const { connectFlags } = await import('./connect.ts');
  const known: Readonly<Record<string, { readonly isSwitch: boolean; readonly short?: string }>> = {
    ...connectFlags,
    namespace: { isSwitch: false, short: 'n' },
  };
  const takesNext = (word: string): boolean => {
    const found = word.startsWith('--') ? known[word.slice(2)] : Object.values(known).find(({ short }) => `-${short}` === word);
    return found !== undefined && !found.isSwitch;
  };
  let at = 0;
  while (at < args.length && isFlag(args[at] as string)) at += takesNext(args[at] as string) ? 2 : 1;
  let end = at;
  while (end < args.length && !isFlag(args[end] as string)) end++;
  if (end <= at) throw new FlagError('a command is missing; `plat help` lists them');
  return [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
}

/** The command that the first arguments name, and those arguments: `config view`. */
async function descend(args: readonly string[], table: readonly CommandEntry[]): Promise<{ command: Command; path: readonly string[] }> {
  const path = [args[0] as string];
  let command = await find(args[0] as string, table).load();
  for (const word of args.slice(1)) {
    const below = command.commands?.find((c) => c.name === word);
    if (below === undefined) break;
    path.push(word);
    command = await below.load();
  }
  return { command, path };
}

function find(name: string, table: readonly CommandEntry[]): CommandEntry {
  const entry = table.find((c) => c.name === name);
  if (entry !== undefined) return entry;
  throw new FlagError(
    `unknown command ${JSON.stringify(name)}${didYouMean(name, [...table.map((c) => c.name), 'help'])}; \`plat help\` lists them`,
  );
}

async function help(about: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  if (about[0] === undefined) {
    io.out(`plat: an API server for declarative control planes, and its client.

Commands:
${commandLines([...table, { name: 'help', summary: 'Show this, or the help of a command: plat help server' }])}

Begin with:
  plat server                 in one terminal
  plat get namespaces         in another
`);
    return 0;
  }
  const { command, path } = await descend(about, table);
  return showHelp(path, command, io);
}
function showHelp(path: readonly string[], command: Command, io: IO): number {
  const usage = command.usage === '' ? '' : ` ${command.usage}`;
  io.out(`plat ${path.join(' ')}${usage}\n\n${command.summary}\n\n${command.help(io.width)}`);
  return 0;
}

/** Recognized by name, since importing the client for its error classes would slow down every start. */
const isUsage = (error: unknown): boolean => error instanceof FlagError || (error instanceof Error && error.name === 'ConfigError');

function explain(error: unknown): string {
  if (error instanceof ApiError && error.code === 401) {
    return 'invalid, expired or revoked credentials: `plat config view --minify` shows which are sent (Unauthorized)';
  }
  if (error instanceof ApiError && error.reason !== '') return `${error.message} (${error.reason})`;
  return fileErrorText(error) ?? (error instanceof Error ? error.message : String(error));
}
