/** The options of a server, parsed from a command line or given by a program. */

import { type FeatureGates, readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { camelCase, type Flag, FlagError, flagHelp, parseFlags, readRelease } from '@plat-dev/lib/flags';
import { own, setOwn } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { ApiRelease } from '@plat-dev/lib/version';
import { checkTogether, type FlagOptions } from './flag-checks.ts';
import { serverFlags } from './flags.ts';
import { readRuntimeConfig } from './runtime-config.ts';

/** The options of a server: every flag under its name in camel case, dependent defaults resolved. */
export interface ServerOptions extends Omit<FlagOptions, 'featureGates' | 'runtimeConfig' | 'anonymousAuth'> {
  readonly anonymousAuth: boolean;
  readonly features: FeatureGates;
  readonly runtimeConfig: ReturnType<typeof readRuntimeConfig>;
  /** For the log, once it is open. */
  readonly warnings: readonly string[];
}

/** Options as a program gives them: those of `--runtime-config` may be texts, as there. */
export type GivenOptions = Partial<Omit<ServerOptions, 'runtimeConfig' | 'apiRelease'>> & {
  readonly apiRelease?: ApiRelease | 'latest' | undefined;
  readonly runtimeConfig?: ServerOptions['runtimeConfig'] | readonly string[] | undefined;
};

/** Parses the command line of `plat server`. Returns `help` for --help; throws FlagError. */
export function parseServerFlags(args: readonly string[]): ServerOptions | 'help' {
  const { options, givenFlags, args: positionals, warnings, help } = parseFlags(serverFlags, args);
  if (help) return 'help';
  if (positionals.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(positionals[0])}: the server takes no arguments`);
  checkTogether(options, givenFlags);
  const features = attempt('feature-gates', () =>
    readFeatureGates(options.featureGates, { release: options.apiRelease, identity: options.identity }),
  );
  const runtimeConfig = attempt('runtime-config', () => readRuntimeConfig(options.runtimeConfig));
  return {
    ...options,
    // A server with its objects in memory keeps its keys there, too, unless a directory is given.
    dataDir: options.store === 'memory' && !givenFlags.has('data-dir') ? '' : options.dataDir,
    anonymousAuth: options.anonymousAuth ?? !options.authorizationMode.includes('AlwaysAllow'),
    features,
    runtimeConfig,
    warnings: [...warnings, ...features.warnings],
  };
}

/**
 * Options for a server within a program or test: the defaults, with some of them changed; undefined keeps a default.
 * Throws FlagError if one is unknown or of the wrong type.
 */
export function serverOptions(changes: GivenOptions = {}): ServerOptions {
  const defaults = changes.store === 'memory' ? defaultsInMemory() : defaultsOnDisk();
  const options: Record<string, unknown> = { ...defaults };
  const { apiRelease } = changes;
  if (apiRelease !== undefined) {
    options.apiRelease = attemptOption('apiRelease', () => readRelease(apiRelease));
    options.features = readFeatureGates(new Map(), { release: options.apiRelease as ApiRelease });
  }
  for (const [name, givenValue] of Object.entries(changes)) {
    if (givenValue === undefined || name === 'apiRelease') continue;
    const value = name === 'runtimeConfig' ? runtimeConfigOf(givenValue) : givenValue;
    checkOption(name, value, options);
    setOwn(options, name, value);
  }
  return options as unknown as ServerOptions;
}

const runtimeConfigOf = (given: unknown): unknown =>
  Array.isArray(given) ? attemptOption('runtimeConfig', () => readRuntimeConfig(given)) : given;

/** Programs that start many servers in one process do not parse all flags for each of them. */
const defaultsInMemory = once(() => parseServerFlags(['--store=memory']) as ServerOptions);
const defaultsOnDisk = once(() => parseServerFlags([]) as ServerOptions);
function once<T>(make: () => T): () => T {
  let cachedValue: T | undefined;
  return () => {
    cachedValue ??= make();
    return cachedValue;
  };
}

const flagOf: ReadonlyMap<string, Flag<unknown>> = new Map(
  Object.values(serverFlags).flatMap((group) => Object.entries(group).map(([name, flag]) => [camelCase(name), flag as Flag<unknown>])),
);

/** Options are given as values, so that only their types and the spelling of choices can be wrong. */
function checkOption(name: string, value: unknown, defaults: Readonly<Record<string, unknown>>): void {
  if (!Object.hasOwn(defaults, name) && !flagOf.has(name))
    throw new FlagError(`unknown option ${name}${didYouMean(name, [...flagOf.keys()])}`);
  const flag = flagOf.get(name);
  const usual = own(defaults, name) ?? flag?.default;
  if (usual === undefined) return;
  const [expectedType, is] = [typeName(usual), typeName(value)];
  if (expectedType !== is) throw new FlagError(`option ${name}: a ${expectedType} is needed, not a ${is}`);
  if (typeof value === 'string' && flag !== undefined && typeof usual === 'string') attemptOption(name, () => flag.read([value]));
}
const typeName = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

function attemptOption<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new FlagError(`option ${name}: ${(error as Error).message}`);
  }
}

export function serverHelp(width?: number): string {
  return flagHelp(serverFlags, width);
}

function attempt<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new FlagError(`--${name}: ${(error as Error).message}`);
  }
}
