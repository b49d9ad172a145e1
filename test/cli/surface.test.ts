/** The commands, flags, shorthands and defaults of kubectl 1.24, by name, compared with ours. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { Command, CommandEntry } from '../../packages/cli/src/command.ts';
import { connectFlags } from '../../packages/cli/src/global-flags.ts';
import { commands } from '../../packages/cli/src/index.ts';
import type { Flag, FlagTable } from '../../packages/lib/src/flags.ts';
import { parseDuration } from '../../packages/lib/src/time.ts';
import { absent, otherDefaults, pending } from './surface-reasons.ts';

interface Stock {
  readonly globalFlags: readonly string[];
  readonly commands: Readonly<Record<string, { readonly aliases?: readonly string[]; readonly flags?: readonly string[] }>>;
}
const stock = JSON.parse(readFileSync(new URL('./kubectl-1.24.json', import.meta.url), 'utf8')) as Stock;

/** `-f, --filename=[]` */
interface StockFlag {
  readonly name: string;
  readonly short: string;
  readonly initial: string;
}
function parse(text: string): StockFlag {
  const [, short = '', name = '', initial = ''] = /^(?:-(\w), )?--([\w-]+)=(.*)$/.exec(text) ?? [];
  return { name, short, initial };
}

const global = connectFlags as unknown as FlagTable[string];
/** Every command of ours by its path, with its flags. */
const ours = new Map<string, FlagTable[string]>();
const aliases = new Map<string, readonly string[]>();

beforeAll(async () => {
  const visit = async (entries: readonly CommandEntry[], above: string): Promise<void> => {
    for (const entry of entries) {
      const path = `${above}${entry.name}`;
      const command: Command = await entry.load();
      ours.set(path, Object.assign({}, ...Object.values(command.flags)));
      aliases.set(path, entry.aliases ?? []);
      if (command.commands !== undefined) await visit(command.commands, `${path} `);
    }
  };
  await visit(commands, '');
  ours.set('help', {});
});

const isSame = (flag: Flag<unknown>, initial: string): boolean => {
  const { default: own } = flag;
  if (own === undefined) return initial === '' || initial === 'true' || initial === 'false';
  if (Array.isArray(own)) {
    const texts = own.map((one) => (one instanceof RegExp ? one.source.replaceAll('\\/', '/') : String(one))).join(',');
    return initial === `[${texts}]` || initial === texts;
  }
  if (own instanceof RegExp) return own.source === initial;
  if (own instanceof Map) return own.size === 0 && (initial === '[]' || initial === '');
  if (typeof own === 'number' && /^\d+(h|m|s|ms)/.test(initial)) return Number(parseDuration(initial) / 1_000_000n) === own;
  return String(own).toLowerCase() === initial.toLowerCase();
};

/** What is missing or differs: `get --sort-by`, `get -L`. */
function gaps(path: string, flags: readonly string[], own: FlagTable[string]): string[] {
  return flags.map(parse).flatMap(({ name, short, initial }) => {
    const flag = own[name] ?? global[name];
    const row = `${path} --${name}`;
    if (flag === undefined || flag.planned) return [row];
    const letter = flag.short ?? (name.length === 1 ? name : '');
    if (letter !== short) return [`${row}: -${short}`];
    // The manager depends on the name of the program: program.test.ts.
    return name === 'field-manager' || isSame(flag, initial) || otherDefaults.has(`${path} --${name}`) || otherDefaults.has(`--${name}`)
      ? []
      : [`${row}: default ${initial}, ours ${String(flag.default)}`];
  });
}
/** `* --flag` is a reason for all commands. */
const listed = (row: string): boolean =>
  absent.has(row) || absent.has(`*${row.slice(row.indexOf(' --'))}`) || pending.has(row.replace(/: .*$/, ''));

test('every global flag is there', () => {
  const missing = gaps('', stock.globalFlags, global).filter((row) => !listed(row.trim()));
  expect(missing).toEqual([]);
});

test('every command, alias, flag, shorthand and default is there', () => {
  const missing = Object.entries(stock.commands).flatMap(([path, { flags = [], aliases: wanted = [] }]) => {
    const own = ours.get(path);
    if (own === undefined) return [path];
    const without = wanted.filter((alias) => !aliases.get(path)?.includes(alias)).map((alias) => `${path} (${alias})`);
    return [...without, ...gaps(path, flags, own)];
  });
  expect(missing.filter((row) => !listed(row))).toEqual([]);
});

test('every reason is about something that kubectl has and we have not', () => {
  const rows = new Set([
    ...gaps('', stock.globalFlags, global).map((row) => row.trim()),
    ...Object.entries(stock.commands).flatMap(([path, { flags = [] }]) => {
      const own = ours.get(path);
      return own === undefined ? [path] : gaps(path, flags, own);
    }),
  ]);
  expect([...absent.keys()].filter((row) => !row.startsWith('*') && !rows.has(row))).toEqual([]);
  for (const reason of [...absent.values(), ...otherDefaults.values()]) expect(reason.length).toBeGreaterThan(20);
});
