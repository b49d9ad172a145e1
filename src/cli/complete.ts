/**
 * Candidates for the end of a command line. The last argument is the one to complete.
 *
 *   plat ge                       get
 *   plat get po                   pods, podtemplates, …
 *   plat get pods -n de           default, dev
 *   plat config use-context       the contexts
 *   plat apply -f                 :files, which is for the shell to find
 */
import { loadConfig } from '../client/config.ts';
import { Discovery, resourcePath } from '../client/discovery.ts';
import { type Flag, parseFlags } from '../lib/flags.ts';
import { Records } from './background/records.ts';
import type { Command, CommandEntry, IO } from './command.ts';
import { configFiles, connect, connectFlags } from './connect.ts';
import { namespaceFlag } from './object-flags.ts';

/** Deadline of requests: a shell waits for the candidates. */
const DEADLINE_MS = 3000;
const MOST = 500;
const files = [':files'];

/** Prints one candidate per line, with its description after a tab. Never fails: a line without candidates is not an error. */
export async function complete(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  try {
    const partial = args.at(-1) === '=' ? '' : (args.at(-1) ?? '');
    // Bash splits `--flag=value`.
    const before = args.slice(0, -1).filter((word) => word !== '=');
    const found = await candidates([...before, partial], io, table);
    const fitting = found === files ? files : found.filter((one) => one.startsWith(partial)).slice(0, MOST);
    io.out(fitting.map((one) => `${one}\n`).join(''));
  } catch {
    // The error is reported when the command is run.
  }
  return 0;
}

interface NamedFlag {
  readonly name: string;
  readonly flag: Flag<unknown>;
}
interface Line {
  readonly command: Command;
  readonly path: readonly string[];
  readonly flags: readonly NamedFlag[];
  /** Arguments before the one to complete, without flags. */
  readonly args: readonly string[];
  /** Flags before it, with their values. */
  readonly given: readonly string[];
  readonly partial: string;
}

async function candidates(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<readonly string[]> {
  const before = args.slice(0, -1);
  const partial = args.at(-1) ?? '';
  const entry = table.find(({ name }) => name === before[0]);
  if (before.length === 0) return described([...table, { name: 'help', summary: 'Show the help of a command.' }]);
  if (before[0] === 'help') return described(table);
  if (entry === undefined) return [];
  let command = await entry.load();
  let depth = 1;
  for (let below = command.commands?.find(({ name }) => name === before[depth]); below !== undefined; ) {
    command = await below.load();
    depth++;
    const { commands } = command;
    below = commands?.find(({ name }) => name === before[depth]);
  }
  const path = before.slice(0, depth);
  const flags = flagsOf(command);
  const { plain, given, open } = sorted(before.slice(depth), flags);
  const line: Line = { command, path, flags, args: plain, given, partial };
  if (open !== undefined) return valuesOf(open, line, io);
  if (partial.startsWith('-')) return flags.map(({ name, flag }) => `--${name}\t${flag.help}`);
  const below = plain.length === 0 && command.commands !== undefined ? described(command.commands) : [];
  return [...below, ...(await positional(line, io))];
}
const described = (table: readonly Pick<CommandEntry, 'name' | 'summary'>[]): string[] =>
  table.map(({ name, summary }) => `${name}\t${summary}`);

/** The flags of a command that have an effect, each once. */
function flagsOf({ flags }: Command): NamedFlag[] {
  const all = Object.assign({}, ...Object.values(flags)) as Record<string, Flag<unknown>>;
  return Object.entries(all).flatMap(([name, flag]) => (flag.planned ? [] : [{ name, flag }]));
}
function sorted(args: readonly string[], flags: readonly NamedFlag[]): { plain: string[]; given: string[]; open: NamedFlag | undefined } {
  const plain: string[] = [];
  const given: string[] = [];
  let open: NamedFlag | undefined;
  for (const word of args) {
    if (open !== undefined) {
      given.push(word);
      open = undefined;
    } else if (!word.startsWith('-')) plain.push(word);
    else {
      given.push(word);
      const found = flags.find(({ name, flag }) => word === `--${name}` || (flag.short !== undefined && word === `-${flag.short}`));
      open = found?.flag.isSwitch ? undefined : found;
    }
  }
  return { plain, given, open };
}

async function valuesOf({ name, flag: { value } }: NamedFlag, line: Line, io: IO): Promise<readonly string[]> {
  if (name === 'namespace') return names('namespaces', line, io);
  if (name === 'context' || name === 'cluster' || name === 'user') return configNames(`${name}s`, line, io);
  if (/^(FILE|DIR|PATH)\b/.test(value)) return files;
  return /^[\w=-]+(\|[\w=-]+)+/.test(value) ? value.replace(/TEMPLATE|SPEC|FILE/g, '').split('|') : [];
}

async function positional(line: Line, io: IO): Promise<readonly string[]> {
  const { command, path, args, partial } = line;
  const [head, sub = ''] = path;
  if (head === 'config') {
    const list = /-(context|cluster|user)$/.exec(sub)?.[1];
    return list === undefined || args.length > 0 || sub.startsWith('get') ? [] : configNames(`${list}s`, line, io);
  }
  if (sub === 'token' && args.length === 0) return names('serviceaccounts', line, io);
  if (head === 'down' || (head === 'up' && args.length === 0)) return new Records(io).names();
  if (head === 'certificate') return names('certificatesigningrequests', line, io);
  if (head === 'completion') return args.length === 0 ? ['bash', 'zsh', 'fish'] : [];
  if (sub === 'can-i' && args.length === 0) return ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
  if (/\bPOD\b/.test(command.usage) && args.length === 0 && !partial.includes('/')) return names('pods', line, io);
  if (!/\bTYPE\b/.test(command.usage)) return [];
  const [type, name] = partial.split('/');
  if (name !== undefined) return (await names(type as string, line, io)).map((one) => `${type}/${one}`);
  const first = args[sub === 'can-i' ? 1 : 0];
  if (first === undefined) return types(line, io);
  return first.includes('/') ? [] : names(first, line, io);
}

async function configNames(list: string, line: Line, io: IO): Promise<string[]> {
  const at = line.given.indexOf('--kubeconfig');
  const config = await loadConfig(configFiles(at === -1 ? undefined : line.given[at + 1], io));
  const found = list === 'contexts' ? config.contexts : list === 'clusters' ? config.clusters : config.users;
  return [...found.keys()].sort();
}

/** Candidates from the server. */
async function fromServer<T>(line: Line, io: IO, ask: (session: Awaited<ReturnType<typeof connect>>) => Promise<T>): Promise<T> {
  const own = { Connecting: connectFlags, Objects: { namespace: namespaceFlag } };
  const known = new Set(Object.values(own).flatMap((group) => Object.keys(group)));
  const kept: string[] = [];
  line.given.forEach((word, i) => {
    const name = word === '-n' ? 'namespace' : word === '-s' ? 'server' : /^--([a-z-]+)/.exec(word)?.[1];
    if (name === undefined || !known.has(name)) return;
    const follows = !word.includes('=') && line.flags.find((one) => one.name === name)?.flag.isSwitch === false;
    const value = line.given[i + 1];
    if (!follows) kept.push(word);
    // The value may be the argument to complete.
    else if (value !== undefined) kept.push(word, value);
  });
  const { options } = parseFlags(own, kept);
  const session = await connect(options, options.namespace, io);
  try {
    return await ask(session);
  } finally {
    session.transport.close();
  }
}
async function types(line: Line, io: IO): Promise<string[]> {
  const found = await fromServer(line, io, ({ transport }) => withTimeout(new Discovery(transport).all(), io));
  const listed = found.filter(({ verbs }) => verbs.includes('list'));
  const count = new Map<string, number>();
  for (const { name } of listed) count.set(name, (count.get(name) ?? 0) + 1);
  return [...new Set(listed.map(({ name, group }) => ((count.get(name) ?? 0) > 1 && group !== '' ? `${name}.${group}` : name)))].sort();
}
async function names(type: string, line: Line, io: IO): Promise<string[]> {
  return fromServer(line, io, async ({ transport, connection }) => {
    const resource = await withTimeout(new Discovery(transport).find(type), io);
    const path = `${resourcePath(resource, connection.namespace)}?limit=${MOST}`;
    const list = await transport.json<{ items?: { metadata: { name: string } }[] }>({ path, timeout: DEADLINE_MS });
    return (list.items ?? []).map(({ metadata }) => metadata.name);
  });
}
function withTimeout<T>(work: Promise<T>, { clock }: IO): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      clock.after(DEADLINE_MS, () => reject(new Error('timed out')));
    }),
  ]);
}
