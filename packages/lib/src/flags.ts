/**
 * Command-line flags as data. A flag is one value that holds its type, default, stage and help; a table of them gives the
 * parser, the help text and the TypeScript type of the result.
 *
 *   const table = { Serving: { 'secure-port': port(6443, 'Port to serve HTTPS on.') } };
 *   parseFlags(table, ['--secure-port', '7443']).options.securePort → 7443
 */

import { setOwn } from './own.ts';
import { didYouMean } from './suggest.ts';
import { formatDuration, parseDuration } from './time.ts';
import { type ApiRelease, apiReleases, latestRelease } from './version.ts';

type FlagStage = 'alpha' | 'beta' | 'stable' | 'deprecated';

export interface FlagDetails {
  /** Stable when it is not given. */
  readonly stage?: FlagStage;
  /** Declared, but without effect so far: using it is an error. */
  readonly planned?: boolean;
  /** One letter that may stand for the name: `-n`. */
  readonly short?: string;
  /** What stands for the value in help. */
  readonly value?: string;
  /** The text of the default in help, if its value is not descriptive. */
  readonly defaultText?: string;
  /** What the value may name, one line each, at the end of the help. */
  readonly lines?: readonly string[];
  /** One of the flags that all commands share: listed once, not in the help of each. A command's own flag of that name hides it. */
  readonly global?: boolean;
}
export interface Flag<T> extends FlagDetails {
  readonly default: T;
  readonly help: string;
  /** `--flag` alone means true. */
  readonly isSwitch: boolean;
  readonly value: string;
  readonly defaultText: string;
  /** Reads all values given, in order. Throws an Error that says what is wrong with them. */
  read(values: readonly string[]): T;
}
export type FlagTable = Readonly<Record<string, Readonly<Record<string, Flag<unknown>>>>>;

/** A malformed command line. The message is for the person who typed it. */
export class FlagError extends Error {
  /** The line of the stock client about the same, which scripts look for. */
  readonly stockText: string | undefined;
  /** The same where the stock client adds how to get help. */
  readonly stockMessage: string | undefined;

  constructor(message: string, stockText?: string, stockMessage?: string) {
    super(message);
    this.name = 'FlagError';
    this.stockText = stockText;
    this.stockMessage = stockMessage;
  }
}

/** The line of the stock client about a flag that must be given. */
export const requiredFlag = (name: string): string => `error: required flag(s) "${name}" not set`;

// ---- types -----------------------------------------------------------------------------------------------------

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
type Flatten<Table extends FlagTable> = UnionToIntersection<Table[keyof Table]>;
/** The result of parsing a table: `secure-port` becomes `securePort`. */
export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Flatten<Table> & string as Camel<Name>]: Flatten<Table>[Name] extends Flag<infer T> ? T : never;
};

export function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, c: string) => c.toUpperCase());
}

// ---- kinds of flags --------------------------------------------------------------------------------------------

/** A flag of any type from the function that reads one value; of several values the last counts. */
export function flag<T>(initial: T, help: string, value: string, readOne: (text: string) => T, details: FlagDetails = {}): Flag<T> {
  return {
    value,
    defaultText: showDefault(initial),
    ...details,
    default: initial,
    help,
    isSwitch: false,
    read: (values) => readOne(values.at(-1) as string),
  };
}
/** A flag that may be given several times, from the function that reads all values. */
export function repeated<T>(
  initial: T,
  help: string,
  value: string,
  read: (values: readonly string[]) => T,
  details: FlagDetails = {},
): Flag<T> {
  return { value, defaultText: showDefault(initial), ...details, default: initial, help, isSwitch: false, read };
}
function showDefault(value: unknown): string {
  if (value === undefined || value === '' || value === false) return '';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? '' : String(value);
}

export const text = (initial: string, help: string, details?: FlagDetails): Flag<string> => flag(initial, help, 'TEXT', (t) => t, details);
/** A path, or nothing. */
export const file = (help: string, details?: FlagDetails): Flag<string | undefined> =>
  flag<string | undefined>(undefined, help, 'FILE', (t) => (t === '' ? undefined : t), details);
export const files = (help: string, details?: FlagDetails): Flag<readonly string[]> =>
  repeated([], help, 'FILE', (values) => values, details);

export function readBoolean(value: string): boolean {
  if (/^(true|t|1)$/i.test(value)) return true;
  if (/^(false|f|0)$/i.test(value)) return false;
  throw new Error(`${JSON.stringify(value)} is neither true nor false`);
}
/** The same for one key of a flag with many: its error names the key. */
export function readBooleanOf(key: string, value: string): boolean {
  try {
    return readBoolean(value);
  } catch (error) {
    throw new Error(`${key}: ${(error as Error).message}`);
  }
}
export const bool = (initial: boolean, help: string, details?: FlagDetails): Flag<boolean> => ({
  ...flag(initial, help, '', readBoolean, details),
  isSwitch: true,
});
/** A switch whose default depends on others. */
export const optionalBool = (help: string, details?: FlagDetails): Flag<boolean | undefined> => ({
  ...flag<boolean | undefined>(undefined, help, '', readBoolean, details),
  isSwitch: true,
});

export function readInteger(value: string, low: number, high: number): number {
  const n = /^[+-]?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(n)) throw new Error(`${JSON.stringify(value)} is not a whole number`);
  if (n < low || n > high) {
    throw new Error(high === Number.MAX_SAFE_INTEGER ? `${n} is less than ${low}` : `${n} is not between ${low} and ${high}`);
  }
  return n;
}
export const int = (initial: number, help: string, details?: FlagDetails & { min?: number; max?: number }): Flag<number> =>
  flag(initial, help, 'NUMBER', (t) => readInteger(t, details?.min ?? 0, details?.max ?? Number.MAX_SAFE_INTEGER), details);
/** 0 asks the system for a free port. */
export const port = (initial: number, help: string, details?: FlagDetails): Flag<number> =>
  flag(initial, help, 'PORT', (t) => readInteger(t, 0, 65535), details);

/** A span of time, in milliseconds. */
export const duration = (initial: string, help: string, details?: FlagDetails): Flag<number> => {
  const read = (t: string): number => {
    const millis = Number(parseDuration(t) / 1_000_000n);
    if (millis < 0) throw new Error(`${t} is negative`);
    return millis;
  };
  const millis = read(initial);
  return flag(millis, help, 'DURATION', read, { defaultText: formatDuration(BigInt(millis) * 1_000_000n), ...details });
};

export function choice<const C extends string>(initial: NoInfer<C>, choices: readonly C[], help: string, details?: FlagDetails): Flag<C> {
  return flag<C>(initial, help, choices.join('|'), (t) => readChoice(t, choices), details);
}
export function readChoice<C extends string>(value: string, choices: readonly C[]): C {
  if ((choices as readonly string[]).includes(value)) return value as C;
  throw new Error(`${JSON.stringify(value)} is not one of ${choices.join(', ')}${didYouMean(value, choices)}`);
}

/** A release of the API; `latest` is the newest one. */
export const readRelease = (value: string): ApiRelease => (value === 'latest' ? latestRelease : readChoice(value, apiReleases));

/** Comma lists; several of them are joined. Empty entries are dropped. */
export function list(
  initial: readonly string[],
  help: string,
  details?: FlagDetails & { check?: (item: string) => void },
): Flag<readonly string[]> {
  return repeated(
    initial,
    help,
    'A,B,…',
    (values) => {
      const items = splitList(values);
      for (const item of items) details?.check?.(item);
      return items;
    },
    details,
  );
}
export function splitList(values: readonly string[]): string[] {
  return values
    .flatMap((v) => v.split(','))
    .map((v) => v.trim())
    .filter((v) => v !== '');
}
/** `key=value` pairs, as comma lists or repeated. */
export function pairs(help: string, details?: FlagDetails): Flag<ReadonlyMap<string, string>> {
  return repeated<ReadonlyMap<string, string>>(
    new Map(),
    help,
    'KEY=VALUE,…',
    (values) => {
      const pairsByKey = new Map<string, string>();
      for (const item of splitList(values)) {
        const at = item.indexOf('=');
        if (at <= 0) throw new Error(`${JSON.stringify(item)} is not of the form key=value`);
        pairsByKey.set(item.slice(0, at).trimEnd(), item.slice(at + 1).trimStart());
      }
      return pairsByKey;
    },
    details,
  );
}

// ---- parsing ---------------------------------------------------------------------------------------------------

export interface ParsedFlags<Table extends FlagTable> {
  readonly options: FlagValues<Table>;
  /** Names of flags that were given. */
  readonly givenFlags: ReadonlySet<string>;
  /** Their values as they were given. */
  readonly raw: ReadonlyMap<string, readonly string[]>;
  /** Arguments that are not flags. */
  readonly args: readonly string[];
  readonly warnings: readonly string[];
  /** `--help` was among them; nothing else was looked at. */
  readonly help: boolean;
}

/** Reads a command line. Throws FlagError for what is unknown or malformed. */
export function parseFlags<Table extends FlagTable>(table: Table, argv: readonly string[]): ParsedFlags<Table> {
  const flagTable = flagsByName(table);
  const { raw, args, help } = readArguments(flagTable, argv);
  const warnings: string[] = [];
  const options: Record<string, unknown> = {};
  for (const [name, flag] of flagTable) {
    const values = raw.get(name);
    setOwn(options, camelCase(name), values === undefined || help ? flag.default : readFlag(name, flag, values, warnings));
  }
  return { options: options as FlagValues<Table>, givenFlags: new Set(raw.keys()), raw, args, warnings, help };
}

/** What an empty command line gives. */
export function defaultOptions<Table extends FlagTable>(table: Table): FlagValues<Table> {
  return parseFlags(table, []).options;
}

function flagsByName(table: FlagTable): Map<string, Flag<unknown>> {
  const flagTable = new Map<string, Flag<unknown>>();
  for (const group of Object.values(table)) {
    for (const [name, flag] of Object.entries(group)) if (!flag.global || !flagTable.has(name)) flagTable.set(name, flag);
  }
  return flagTable;
}

function readFlag(name: string, flag: Flag<unknown>, values: readonly string[], warnings: string[]): unknown {
  if (flag.planned) throw new FlagError(`--${name} is planned, but has no effect in this release: leave it out`);
  if (flag.stage === 'deprecated') warnings.push(`--${name} is deprecated: ${flag.help}`);
  try {
    return flag.read(values);
  } catch (error) {
    throw new FlagError(`--${name}: ${(error as Error).message}`, (error as Partial<FlagError>).stockText);
  }
}

export interface RawFlags {
  /** Values as they were given, by name. */
  readonly raw: Map<string, string[]>;
  readonly args: string[];
  readonly help: boolean;
}
/** Splits a command line without reading the values. Throws FlagError for flags that are unknown or lack a value. */
export const rawFlags = (table: FlagTable, argv: readonly string[]): RawFlags => readArguments(flagsByName(table), argv);

function readArguments(flagTable: ReadonlyMap<string, Flag<unknown>>, argv: readonly string[]): RawFlags {
  const letters = new Map([...flagTable].map(([name, flag]) => [flag.short ?? (name.length === 1 ? name : ''), name]));
  const raw = new Map<string, string[]>();
  const args: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--') return { raw, args: [...args, ...argv.slice(i + 1)], help: false };
    if (arg === '--help' || arg === '-h') return { raw, args, help: true };
    if (!arg.startsWith('-') || arg === '-') {
      args.push(arg);
      continue;
    }
    for (const { name, glued } of arg.startsWith('--') ? [longFlag(arg, flagTable)] : shortFlags(arg, flagTable, letters)) {
      const flag = flagTable.get(name) as Flag<unknown>;
      const value = glued ?? (flag.isSwitch ? 'true' : argv[++i]);
      if (value === undefined) throw new FlagError(`--${name} needs a value: --${name} ${flag.value}`);
      const values = raw.get(name);
      if (values === undefined) raw.set(name, [value]);
      else values.push(value);
    }
  }
  return { raw, args, help: false };
}
interface NamedValue {
  readonly name: string;
  /** The value that stands in the same word. */
  readonly glued: string | undefined;
}
/** `--name` or `--name=value` */
function longFlag(arg: string, flagTable: ReadonlyMap<string, Flag<unknown>>): NamedValue {
  const equals = arg.indexOf('=');
  const name = arg.slice(2, equals === -1 ? undefined : equals);
  if (!flagTable.has(name)) throw unknownFlag(`--${name}`, name, flagTable);
  return { name, glued: equals === -1 ? undefined : arg.slice(equals + 1) };
}
/** `-n`, `-n=value`, `-nvalue`, or several switches in one argument: `-it`. */
function shortFlags(arg: string, flagTable: ReadonlyMap<string, Flag<unknown>>, letters: ReadonlyMap<string, string>): NamedValue[] {
  const namedValues: NamedValue[] = [];
  for (let at = 1; at < arg.length; at++) {
    const name = letters.get(arg[at] as string);
    if (name === undefined) throw unknownFlag(arg, arg.slice(1), flagTable, arg[at]);
    const rest = arg.slice(at + 1);
    if (rest.startsWith('=')) return [...namedValues, { name, glued: rest.slice(1) }];
    if (!flagTable.get(name)?.isSwitch) return [...namedValues, { name, glued: rest === '' ? undefined : rest }];
    namedValues.push({ name, glued: undefined });
  }
  return namedValues;
}
function unknownFlag(flagText: string, name: string, flagTable: ReadonlyMap<string, Flag<unknown>>, letter?: string): FlagError {
  const usable = [...flagTable].filter(([, flag]) => !flag.planned).map(([n]) => n);
  const stock = letter === undefined ? `unknown flag: ${flagText}` : `unknown shorthand flag: '${letter}' in ${flagText}`;
  return new FlagError(`unknown flag ${flagText}${didYouMean(name, usable, '--')}`, undefined, stock);
}

// ---- help ------------------------------------------------------------------------------------------------------

/** The help text: groups of flags with their values, defaults and stages, folded to a width. Global flags only with `withGlobal`. */
export function flagHelp(table: FlagTable, width = 100, withGlobal = false): string {
  const out: string[] = [];
  const planned: string[] = [];
  for (const [group, flags] of Object.entries(table)) {
    const lines: string[] = [];
    for (const [name, flag] of Object.entries(flags)) {
      if (flag.planned) planned.push(`--${name}`);
      else if (withGlobal || !flag.global) lines.push(...flagLines(name, flag, width));
    }
    if (lines.length > 0) out.push(`${group}:`, ...lines, '');
  }
  if (planned.length > 0)
    out.push('Planned, without effect so far:', ...foldText(planned.join(', '), width - 4).map((line) => `    ${line}`), '');
  return out.join('\n');
}
function flagLines(name: string, flag: Flag<unknown>, width: number): string[] {
  const stage = flag.stage === undefined || flag.stage === 'stable' ? '' : `[${flag.stage}] `;
  const initial = flag.defaultText === '' ? '' : ` (default ${flag.defaultText})`;
  const letter = flag.short === undefined ? '' : `-${flag.short}, `;
  const head = `  ${letter}--${name}${flag.value === '' ? '' : ` ${flag.value}`}`;
  const lines = (flag.lines ?? []).flatMap((line) => foldText(line, width - 12).map((part, i) => `${i === 0 ? '' : '  '}${part}`));
  return [
    head,
    ...foldText(`${stage}${flag.help}${initial}`, width - 8).map((line) => `        ${line}`),
    ...lines.map((line) => `          ${line}`),
  ];
}
/** Words in lines of at most so many characters, where they fit. */
export function foldText(words: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}
