/** The commands of `plat`, one line each, and how a command line finds its own. */
import { fileErrorText } from '../lib/file-errors.ts';
import { FlagError } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';
import { ApiError } from '../meta/errors.ts';
import type { Command, CommandEntry, IO } from './command.ts';
import { commandLines } from './command-group.ts';

/** What runs the service first, then in the order of the alphabet. */
export const commands: readonly CommandEntry[] = [
  { name: 'server', summary: 'Run the API server.', load: async () => (await import('./server.ts')).server },
  {
    name: 'controllers',
    summary: 'Run the controllers beside servers.',
    load: async () => (await import('./controllers.ts')).controllers,
  },
  { name: 'annotate', summary: 'Change annotations.', load: async () => (await import('./annotate.ts')).annotate },
  { name: 'api-resources', summary: 'Show what the server serves.', load: async () => (await import('./api-resources.ts')).apiResources },
  {
    name: 'api-versions',
    summary: 'Show the groups and versions that the server serves.',
    load: async () => (await import('./api-versions.ts')).apiVersions,
  },
  { name: 'apply', summary: 'Make objects what files say.', load: async () => (await import('./apply.ts')).apply },
  { name: 'attach', summary: 'See what the program of a container prints.', load: async () => (await import('./exec.ts')).attach },
  { name: 'auth', summary: 'Tell who you are and what you may do.', load: async () => (await import('./auth/index.ts')).auth },
  {
    name: 'certificate',
    summary: 'Decide about certificate signing requests.',
    load: async () => (await import('./certificate.ts')).certificate,
  },
  {
    name: 'cluster-info',
    summary: 'Show where the server is, or dump all that helps to find a fault.',
    load: async () => (await import('./cluster-info.ts')).clusterInfo,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes command lines.',
    load: async () => (await import('./completion.ts')).completion,
  },
  { name: 'config', summary: 'Show and change the client configuration.', load: async () => (await import('./config/index.ts')).config },
  { name: 'create', summary: 'Make new objects, from files or flags.', load: async () => (await import('./create.ts')).create },
  { name: 'delete', summary: 'Delete objects.', load: async () => (await import('./delete.ts')).del },
  { name: 'diff', summary: 'Show what an apply would change.', load: async () => (await import('./diff.ts')).diff },
  { name: 'edit', summary: 'Edit objects in an editor.', load: async () => (await import('./edit.ts')).edit },
  {
    name: 'envtest',
    summary: "Print a directory with kube-apiserver, etcd and kubectl for Go's envtest.",
    load: async () => (await import('./envtest/index.ts')).envtest,
  },
  { name: 'events', summary: 'Show what happened.', load: async () => (await import('./events.ts')).events },
  { name: 'exec', summary: 'Run a program in a container.', load: async () => (await import('./exec.ts')).exec },
  { name: 'explain', summary: 'Show the fields of a type.', load: async () => (await import('./explain.ts')).explain },
  { name: 'get', summary: 'Show objects.', load: async () => (await import('./get.ts')).get },
  { name: 'label', summary: 'Change labels.', load: async () => (await import('./label.ts')).label },
  { name: 'logs', summary: 'Show what containers have printed.', load: async () => (await import('./logs.ts')).logs },
  {
    name: 'options',
    summary: 'Show the flags that every command has which talks to a server.',
    load: async () => (await import('./options.ts')).options,
  },
  { name: 'patch', summary: 'Change some fields of objects.', load: async () => (await import('./patch.ts')).patch },
  {
    name: 'port-forward',
    summary: 'Let ports of this machine lead into a pod.',
    load: async () => (await import('./port-forward.ts')).portForward,
  },
  { name: 'proxy', summary: 'Serve the API on this machine.', load: async () => (await import('./proxy.ts')).proxy },
  { name: 'replace', summary: 'Make objects exactly what files say.', load: async () => (await import('./replace.ts')).replace },
  { name: 'scale', summary: 'Set how many replicas there should be.', load: async () => (await import('./scale.ts')).scale },
  {
    name: 'store',
    summary: 'Back up, restore, check and repair what is stored.',
    load: async () => (await import('./store/index.ts')).store,
  },
  { name: 'version', summary: 'Show the version.', load: async () => (await import('./version.ts')).version },
  {
    name: 'wait',
    summary: 'Wait until objects have a condition or value, or are deleted.',
    load: async () => (await import('./wait.ts')).wait,
  },
];

/** Runs a command line; answers the exit code: 0, 1 when something failed, 2 when the command line is wrong. */
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
  // For shells: it stands in no help.
  if (name === '__complete') return (await import('./complete.ts')).complete(rest[0] === '--' ? rest.slice(1) : rest, io, table);
  // For the programs that `plat envtest` writes.
  if (name === '__kube-apiserver') return (await import('./envtest/apiserver.ts')).runApiserver(rest, io);
  const { command, words } = await descend(args, table);
  const own = args.slice(words.length);
  // What stands behind `--` is for someone else.
  const end = own.indexOf('--');
  const asked = own.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
  return asked ? showHelp(words, command, io) : command.run(own, io);
}

const isFlag = (word: string): boolean => word.startsWith('-');
/** They mean something without a command. */
const alone: ReadonlySet<string> = new Set(['--help', '-h', '--version', '-v']);

/** Flags may stand before the command: `plat -n team get pods`. They are put behind its words. */
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

/** The command that the first words name, and those words: `config view`. */
async function descend(args: readonly string[], table: readonly CommandEntry[]): Promise<{ command: Command; words: readonly string[] }> {
  const words = [args[0] as string];
  let command = await find(args[0] as string, table).load();
  for (const word of args.slice(1)) {
    const below = command.commands?.find((c) => c.name === word);
    if (below === undefined) break;
    words.push(word);
    command = await below.load();
  }
  return { command, words };
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
  const { command, words } = await descend(about, table);
  return showHelp(words, command, io);
}
function showHelp(words: readonly string[], command: Command, io: IO): number {
  const usage = command.usage === '' ? '' : ` ${command.usage}`;
  io.out(`plat ${words.join(' ')}${usage}\n\n${command.summary}\n\n${command.help(io.width)}`);
  return 0;
}

/** Told by name: to import the client's modules for their errors alone would slow every start down. */
const isUsage = (error: unknown): boolean => error instanceof FlagError || (error instanceof Error && error.name === 'ConfigError');

function explain(error: unknown): string {
  if (error instanceof ApiError && error.code === 401) {
    return 'the server does not know you: the credentials are wrong, expired or revoked; `plat config view --minify` shows which are sent (Unauthorized)';
  }
  if (error instanceof ApiError && error.reason !== '') return `${error.message} (${error.reason})`;
  return fileErrorText(error) ?? (error instanceof Error ? error.message : String(error));
}
