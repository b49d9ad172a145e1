/**
 * Plug-ins: programs on the PATH whose names begin with that of this program. `plat foo bar x` runs `plat-foo-bar x` if there is
 * such a program, else `plat-foo bar x`. Own commands always come first.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { bool } from '@plat-dev/lib/flags';
import { type Command, command, type IO } from './command.ts';
import { commandGroup } from './command-group.ts';
import { lendTerminal } from './terminal/interrupt.ts';

const listTable = { Printing: { 'name-only': bool(false, 'Print names instead of paths.') } };
/** `commandNames`: those of this program, which come before plug-ins of the same names. */
export const pluginCommand = (commandNames: (io: IO) => ReadonlySet<string>): Command => {
  const list = command({
    usage: '[flags]',
    summary: 'List the plug-ins on the PATH.',
    flags: listTable,
    more: `
A plug-in is a program named plat-NAME, or kubectl-NAME if this program is called as kubectl. \`plat NAME\` runs it.

Examples:
  plat plugin list
  plat plugin list --name-only
  plat NAME --flag-of-the-plug-in

Exit codes:
  0   there are plug-ins, and all can be run
  1   there are none, or some cannot be run
  2   the command line is wrong
`,
    async run({ options }, io) {
      return printPlugins(io, commandNames(io), options.nameOnly);
    },
  });

  return commandGroup(
    'plugin',
    'List plug-ins: programs on the PATH that become commands.',
    [{ name: 'list', summary: 'List the plug-ins on the PATH.', load: async () => list }],
    ['plat plugin list', 'plat plugin list --name-only', 'plat greet --loud                a program plat-greet on the PATH'],
  );
};

/** Windows starts files by the end of their name. Those of its shell (.cmd, .bat) are not run: their arguments cannot be passed safely. */
const endings = (platform: NodeJS.Platform): readonly string[] => (platform === 'win32' ? ['.exe', '.com'] : ['']);
const directoriesOf = ({ env }: IO): string[] => [...new Set((env.PATH ?? '').split(delimiter))].filter((one) => one.trim() !== '');

function printPlugins(io: IO, ownCommands: ReadonlySet<string>, nameOnly: boolean): number {
  const pathsByName = new Map<string, string>();
  let problems = 0;
  let pluginCount = 0;
  for (const directory of directoriesOf(io)) {
    for (const name of filesIn(directory, io).filter((file) => file.startsWith(`${io.program}-`))) {
      const path = join(directory, name);
      if (pluginCount++ === 0) io.out('The following compatible plugins are available:\n\n');
      io.out(`${nameOnly ? name : path}\n`);
      for (const problem of problemsOf(path, name, pathsByName, ownCommands, io.program)) {
        problems++;
        io.err(`  - warning: ${problem}\n`);
      }
      if (!pathsByName.has(name)) pathsByName.set(name, path);
    }
  }
  if (pluginCount === 0) io.err(`error: unable to find any ${io.program} plugins in your PATH\n`);
  if (problems > 0) io.err(problems === 1 ? 'error: one plugin warning was found\n' : `error: ${problems} plugin warnings were found\n`);
  return pluginCount === 0 || problems > 0 ? 1 : 0;
}
function filesIn(directory: string, io: IO): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    io.err(`Unable to read directory ${JSON.stringify(directory)} from your PATH: ${(error as Error).message}. Skipping...\n`);
    return [];
  }
}
function problemsOf(
  path: string,
  name: string,
  pathsByName: ReadonlyMap<string, string>,
  own: ReadonlySet<string>,
  program: string,
): string[] {
  const first = name.slice(program.length + 1).split('-')[0] as string;
  const earlier = pathsByName.get(name);
  return [
    ...(isProgram(path) ? [] : [`${path} identified as a ${program} plugin, but it is not executable`]),
    ...(earlier === undefined ? [] : [`${path} is overshadowed by a similarly named plugin: ${earlier}`]),
    ...(own.has(first) ? [`${name} overwrites existing command: "${program} ${first}"`] : []),
  ];
}
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export interface FoundPlugin {
  readonly path: string;
  readonly args: readonly string[];
}
/** The program of the longest name that the arguments before the first flag make. */
export function findPlugin(args: readonly string[], io: IO): FoundPlugin | undefined {
  const flagAt = args.findIndex((word) => word.startsWith('-'));
  const words = (flagAt === -1 ? args : args.slice(0, flagAt)).slice(0, MAX_WORDS);
  for (let count = words.length; count > 0; count--) {
    const parts = words.slice(0, count);
    // A path would lead out of the directories of the PATH.
    if (parts.some((word) => word === '' || /[\\/\0]/.test(word))) continue;
    const name = [io.program, ...parts.map((word) => word.replaceAll('-', '_'))].join('-');
    const path = directoriesOf(io)
      .flatMap((directory) => endings(io.platform).map((ending) => join(directory, `${name}${ending}`)))
      .find(isProgram);
    if (path !== undefined) return { path, args: args.slice(count) };
  }
  return undefined;
}
/** Names of more words are not looked for. */
const MAX_WORDS = 16;

/** Runs it with our terminal; returns its exit code. */
export function runPlugin({ path, args }: FoundPlugin, io: IO): Promise<number> {
  // Signals of the terminal reach the plug-in, too, which decides what to do.
  const run = (): Promise<number> =>
    new Promise<number>((resolve, reject) => {
      const child = spawn(path, args, { stdio: 'inherit', env: { ...io.env }, cwd: io.cwd });
      child.once('error', (error) => reject(new Error(`cannot run the plug-in ${path}: ${error.message}`)));
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : system.signals[signal])));
    });
  return lendTerminal(io, run);
}
