/**
 * Candidates for the end of a command line. The last argument is the one to complete.
 *
 *   plat ge                       get
 *   plat get po                   pods, podtemplates, …
 *   plat get pods -n de           default, dev
 *   plat get pods --output=j      --output=json, --output=jsonpath=, …
 *   plat logs web -c              the containers of the pod
 *   plat explain pod.spec.        the fields
 *   plat config use-context       the contexts
 *   plat apply -f                 :files, which is for the shell to find
 */

import { loadConfig } from '@plat-dev/client/config';
import { Discovery, resourcePath } from '@plat-dev/client/discovery';
import { type Flag, parseFlags } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { commandBelow, entryOf, flagsLast, isFlag } from '../arguments.ts';
import { Records } from '../background/records.ts';
import type { Command, CommandEntry, IO } from '../command.ts';
import { configFiles, connect, type Session } from '../connect.ts';
import { connectFlags } from '../global-flags.ts';
import { shells } from './completion.ts';

/** Deadline of requests: a shell waits for the candidates. */
const DEADLINE_MS = 3000;
const MOST = 500;
const files = [':files'];

/** Prints one candidate per line, with its description after a tab. Never fails: a line without candidates is not an error. */
export async function complete(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<number> {
  try {
    const partial = args.at(-1) === '=' ? '' : (args.at(-1) ?? '');
    // Bash splits `--flag=value`; other shells do not.
    const wordsBefore = args.slice(0, -1).filter((word) => word !== '=');
    const glued = /^(--[a-z0-9-]+=)(.*)$/s.exec(partial);
    const completions =
      glued === null
        ? await candidates([...wordsBefore, partial], io, table)
        : await candidates([...wordsBefore, (glued[1] as string).slice(0, -1), glued[2] as string], io, table);
    if (completions === files) io.out(':files\n');
    else {
      const whole = glued === null ? completions : completions.map((one) => `${glued[1]}${one}`);
      const fitting = whole.filter((one) => one.startsWith(partial)).slice(0, MOST);
      io.out(fitting.map((one) => `${one}\n`).join(''));
    }
  } catch {
    // The error is reported when the command is run.
  }
  return 0;
}

/** `-- get po`, or `--next -- get pods` for an empty argument at the end. */
export function argsToComplete(args: readonly string[]): readonly string[] {
  const isNext = args[0] === '--next';
  const commandArgs = isNext ? args.slice(1) : args;
  const words = commandArgs[0] === '--' ? commandArgs.slice(1) : commandArgs;
  return isNext ? [...words, ''] : words;
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
  readonly givenFlags: readonly string[];
  readonly partial: string;
}

async function candidates(args: readonly string[], io: IO, table: readonly CommandEntry[]): Promise<readonly string[]> {
  const partial = args.at(-1) ?? '';
  let wordsBefore = args.slice(0, -1);
  if (wordsBefore[0] !== undefined && isFlag(wordsBefore[0])) wordsBefore = [...flagsLast(wordsBefore, { connectFlags }, table)];
  const [head] = wordsBefore;
  // The value of a global flag before the command.
  if (head === undefined || isFlag(head)) {
    const open = sorted(wordsBefore, namedFlags({ connectFlags })).open;
    const line = {
      command: { flags: {} } as Command,
      path: [],
      flags: namedFlags({ connectFlags }),
      args: [],
      givenFlags: wordsBefore.slice(0, -1),
      partial,
    };
    if (open !== undefined) return valuesOf(open, line, io);
    return partial.startsWith('-')
      ? flagLines(line.flags)
      : described([...table, { name: 'help', summary: 'Show the help of a command.' }]);
  }
  if (head === 'help') return described(table);
  const entry = entryOf(head, table);
  if (entry === undefined) return [];
  const { command, path, own: ownWords } = await commandBelow(entry, wordsBefore.slice(1), { connectFlags });
  const flags = namedFlags(command.flags);
  const { plain, givenFlags, open } = sorted(ownWords, flags);
  const line: Line = { command, path, flags, args: plain, givenFlags, partial };
  if (open !== undefined) return valuesOf(open, line, io);
  if (partial.startsWith('-')) return flagLines(flags);
  const below = plain.length === 0 && command.commands !== undefined ? described(command.commands) : [];
  return [...below, ...(await positional(line, io))];
}
const described = (table: readonly Pick<CommandEntry, 'name' | 'summary'>[]): string[] =>
  table.map(({ name, summary }) => `${name}\t${summary}`);
const flagLines = (flags: readonly NamedFlag[]): string[] => flags.map(({ name, flag }) => `--${name}\t${flag.help}`);

/** The flags of a table that have an effect, each once. */
function namedFlags(table: Command['flags']): NamedFlag[] {
  const all = new Map(Object.values(table).flatMap((flags) => Object.entries(flags)));
  return [...all].flatMap(([name, flag]) => (flag.planned ? [] : [{ name, flag }]));
}
function sorted(
  args: readonly string[],
  flags: readonly NamedFlag[],
): { plain: string[]; givenFlags: string[]; open: NamedFlag | undefined } {
  const plain: string[] = [];
  const givenFlags: string[] = [];
  let open: NamedFlag | undefined;
  for (const word of args) {
    if (open !== undefined) {
      givenFlags.push(word);
      open = undefined;
    } else if (!word.startsWith('-')) plain.push(word);
    else {
      givenFlags.push(word);
      const matchingFlag = flags.find(({ name, flag }) => word === `--${name}` || word === `-${flag.short ?? name}`);
      open = matchingFlag?.flag.isSwitch ? undefined : matchingFlag;
    }
  }
  return { plain, givenFlags, open };
}

async function valuesOf({ name, flag: { value } }: NamedFlag, line: Line, io: IO): Promise<readonly string[]> {
  if (name === 'namespace') return names('namespaces', line, io);
  if (name === 'context' || name === 'cluster' || name === 'user') return configNames(`${name}s`, line, io);
  if (name === 'container') return containers(line, io);
  if (/^(FILE|DIR|PATH)\b/.test(value)) return files;
  if (!value.includes('|')) return [];
  // `jsonpath=TEMPLATE` is completed up to the equals sign.
  return value.split('|').flatMap((one) => /^[a-z][\w.-]*=?/.exec(one)?.[0] ?? []);
}

const types = new Set(['get', 'describe', 'delete', 'edit']);

async function positional(line: Line, io: IO): Promise<readonly string[]> {
  const { command, path, args, partial } = line;
  const [head = '', sub = ''] = path;
  if (head === 'config') {
    const list = /-(context|cluster|user)$|^use$/.exec(sub);
    return list === null || args.length > 0 || sub.startsWith('get') ? [] : configNames(`${list[1] ?? 'context'}s`, line, io);
  }
  if (sub === 'token' && args.length === 0) return names('serviceaccounts', line, io);
  if (head === 'down' || (head === 'up' && args.length === 0)) return new Records(io).names();
  if (head === 'certificate') return names('certificatesigningrequests', line, io);
  if (head === 'completion') return args.length === 0 ? shells : [];
  if (head === 'explain') return args.length === 0 ? fields(line, io) : [];
  if (sub === 'can-i' && args.length === 0) return ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
  if (/\bNODE\b/.test(command.usage) || (head === 'top' && sub.startsWith('no'))) return names('nodes', line, io);
  if ((/\bPOD\b/.test(command.usage) || head === 'top') && args.length === 0 && !partial.includes('/')) return names('pods', line, io);
  if (!types.has(head) && !/\b(TYPE|RESOURCE)\b/.test(command.usage)) return [];
  const [type, name] = partial.split('/');
  if (name !== undefined) return (await names(type as string, line, io)).map((one) => `${type}/${one}`);
  const first = args[sub === 'can-i' ? 1 : 0];
  if (first === undefined) return typeNames(line, io);
  return first.includes('/') ? [] : names(first, line, io);
}

async function configNames(list: string, line: Line, io: IO): Promise<string[]> {
  const at = line.givenFlags.indexOf('--kubeconfig');
  const config = await loadConfig(configFiles(at === -1 ? undefined : line.givenFlags[at + 1], io));
  const entries = list === 'contexts' ? config.contexts : list === 'clusters' ? config.clusters : config.users;
  return [...entries.keys()].sort();
}

/** Candidates from the server. */
async function fromServer<T>(line: Line, io: IO, ask: (session: Session, discovery: Discovery) => Promise<T>): Promise<T> {
  const own = { Connecting: connectFlags };
  const connectFlagNames = new Set(Object.keys(connectFlags));
  const connectArgs: string[] = [];
  line.givenFlags.forEach((word, i) => {
    const name = word === '-n' ? 'namespace' : word === '-s' ? 'server' : /^--([a-z-]+)/.exec(word)?.[1];
    if (name === undefined || !connectFlagNames.has(name)) return;
    const follows = !word.includes('=') && !connectFlags[name as keyof typeof connectFlags].isSwitch;
    const value = line.givenFlags[i + 1];
    if (!follows) connectArgs.push(word);
    // The value may be the argument to complete.
    else if (value !== undefined) connectArgs.push(word, value);
  });
  const { options } = parseFlags(own, connectArgs);
  const session = await connect(options, options.namespace, io);
  try {
    return await withTimeout(ask(session, new Discovery(session.transport, session.cache)), io);
  } finally {
    session.transport.close();
    session.cache?.save();
  }
}
async function typeNames(line: Line, io: IO): Promise<string[]> {
  const apiResources = await fromServer(line, io, (_, discovery) => discovery.all());
  const listableTypes = apiResources.filter(({ verbs }) => verbs.includes('list'));
  const count = new Map<string, number>();
  for (const { name } of listableTypes) count.set(name, (count.get(name) ?? 0) + 1);
  return [
    ...new Set(listableTypes.map(({ name, group }) => ((count.get(name) ?? 0) > 1 && group !== '' ? `${name}.${group}` : name))),
  ].sort();
}
function names(type: string, line: Line, io: IO): Promise<string[]> {
  return fromServer(line, io, async ({ transport, connection }, discovery) => {
    const resource = await discovery.find(type);
    const path = `${resourcePath(resource, connection.namespace)}?limit=${MOST}`;
    const list = await transport.json<{ items?: { metadata: { name: string } }[] }>({ path, timeout: DEADLINE_MS });
    return (list.items ?? []).map(({ metadata }) => metadata.name);
  });
}
interface Pod {
  readonly spec?: Readonly<Record<string, unknown>>;
}
/** The containers of the pod that the line names: `logs web`, `exec pod/web`. */
function containers(line: Line, io: IO): Promise<string[]> {
  const [first = '', second] = line.args;
  const name = first.includes('/') ? first.split('/')[1] : /^(po|pods?)$/.test(first) ? second : first;
  if (!name) return Promise.resolve([]);
  return fromServer(line, io, async ({ transport, connection }) => {
    const path = `/api/v1/namespaces/${encodeURIComponent(connection.namespace)}/pods/${encodeURIComponent(name)}`;
    const { spec = {} } = await transport.json<Pod>({ path, timeout: DEADLINE_MS });
    return ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) =>
      ((own(spec, list) ?? []) as { name: string }[]).map((container) => container.name),
    );
  });
}
/** `po` is completed to a type, `pod.spec.` to its fields. */
async function fields(line: Line, io: IO): Promise<string[]> {
  const parts = line.partial.split('.');
  if (parts.length === 1) return typeNames(line, io);
  return fromServer(line, io, async ({ transport }, discovery) => {
    const { Schemas } = await import('../discovery/explain-schema.ts');
    const path = parts.slice(0, -1);
    const { resource, count } = await discovery.findPrefix(path);
    const schemas = await Schemas.load(transport, resource);
    let at = schemas.ofKind(resource);
    for (const field of path.slice(count)) at = at && own(schemas.element(at).properties, field);
    return at === undefined ? [] : Object.keys(schemas.element(at).properties ?? {}).map((field) => [...path, field].join('.'));
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
