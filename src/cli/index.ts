/** The commands of `plat`, one line each, and how a command line finds its own. */
import { FlagError } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';
import { ApiError } from '../meta/errors.ts';
import type { Command, CommandEntry, IO } from './command.ts';

export const commands: readonly CommandEntry[] = [
  { name: 'server', summary: 'Run the API server.', load: async () => (await import('./server.ts')).server },
  {
    name: 'controllers',
    summary: 'Run the controllers beside servers.',
    load: async () => (await import('./controllers.ts')).controllers,
  },
  { name: 'apply', summary: 'Make objects what files say.', load: async () => (await import('./apply.ts')).apply },
  { name: 'create', summary: 'Make new objects, from files or flags.', load: async () => (await import('./create.ts')).create },
  { name: 'delete', summary: 'Delete objects.', load: async () => (await import('./delete.ts')).del },
  { name: 'get', summary: 'Show objects.', load: async () => (await import('./get.ts')).get },
  { name: 'version', summary: 'Show the version.', load: async () => (await import('./version.ts')).version },
  { name: 'wait', summary: 'Wait until objects are as wanted.', load: async () => (await import('./wait.ts')).wait },
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
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return help(rest[0], io, table);
  if (name === '--version' || name === '-v') return dispatch(['version', ...rest], io, table);
  const command = await find(name, table).load();
  if (rest.includes('--help') || rest.includes('-h')) return help(name, io, table);
  return command.run(rest, io);
}

function find(name: string, table: readonly CommandEntry[]): CommandEntry {
  const entry = table.find((c) => c.name === name);
  if (entry !== undefined) return entry;
  throw new FlagError(
    `unknown command ${JSON.stringify(name)}${didYouMean(name, [...table.map((c) => c.name), 'help'])}; \`plat help\` lists them`,
  );
}

async function help(name: string | undefined, io: IO, table: readonly CommandEntry[]): Promise<number> {
  if (name === undefined) {
    const widest = Math.max(...table.map((c) => c.name.length));
    const lines = table.map((c) => `  ${c.name.padEnd(widest)}   ${c.summary}`);
    io.out(`plat: an API server for declarative control planes, and its client.

Commands:
${lines.join('\n')}
  ${'help'.padEnd(widest)}   Show this, or the help of a command: plat help server

Begin with:
  plat server                 in one terminal
  plat get namespaces         in another
`);
    return 0;
  }
  const command: Command = await find(name, table).load();
  io.out(`plat ${name}${command.usage === '' ? '' : ` ${command.usage}`}\n\n${command.summary}\n\n${command.help(io.width)}`);
  return 0;
}

/** Told by name: to import the client's modules for their errors alone would slow every start down. */
const isUsage = (error: unknown): boolean => error instanceof FlagError || (error instanceof Error && error.name === 'ConfigError');

function explain(error: unknown): string {
  if (error instanceof ApiError && error.reason !== '') return `${error.message} (${error.reason})`;
  return error instanceof Error ? error.message : String(error);
}
