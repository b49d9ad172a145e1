/**
 * What a release offers to expressions: functions, macros, types and checks, exactly as a stock server of that release.
 *
 *   environmentOf('1.36')                                 what stored expressions of 1.36 may use
 *   environmentsOf('1.36').added                          what new ones may use: what a server one release older understands as well
 *   environmentOf('1.36', { libraries: authorizerLibrary })   with functions that only some expressions have
 *
 * 1.24, where rules are an extension of ours, has everything that any release has, and more.
 */
import { isAtLeast, minorOf } from '@plat-dev/lib/version';
import { libraries, moreFunctions } from './functions/libraries.ts';
import type { Library, Overload } from './functions/signature.ts';
import { type CelType, type ObjectType, typeName } from './types.ts';

/** Parts of the language by the release of the environment. */
const features = {
  /** `a.?b`, `a[?b]`, `{?a: b}` and the macros `optMap` and `optFlatMap`. */
  optionals: '1.28',
  /** Regular expressions, times and spans of time that the source spells out are checked when it is compiled. */
  checkedLiterals: '1.29',
  /** Macros with two variables. */
  twoVariables: '1.32',
  sortBy: '1.34',
} as const;
export type Feature = keyof typeof features;

export interface EnvironmentOptions {
  /** The release of the server, where it is newer than that of the environment. */
  readonly server?: string;
  /** Libraries that not all expressions have. */
  readonly libraries?: readonly Library[];
}

export class Environment {
  readonly release: string;
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  /** Names of types, which stand for themselves. */
  readonly typeNames: ReadonlySet<string>;
  /** Whether it is that of a stock server: items of a list have one type, `cel.bind` is not known, and sizes of results are estimated as there. */
  readonly isStock: boolean;
  /** `existsOne` with one variable. */
  readonly hasExistsOne: boolean;
  private readonly constructors: readonly ((name: string) => ObjectType | undefined)[];

  constructor(release: string, { server = release, libraries: added = [] }: EnvironmentOptions) {
    this.release = release;
    this.isStock = isAtLeast(release, '1.25');
    this.hasExistsOne = !this.isStock || isAtLeast(server, '1.33');
    const used = [...libraries, ...added].filter((library) => (this.isStock ? has(library, release, server) : library.until === undefined));
    const functions = [...used.flatMap((library) => library.functions), ...(this.isStock ? [] : moreFunctions)];
    this.functions = grouped(functions);
    this.typeNames = new Set([...basicTypes, ...used.flatMap(({ types = [] }) => types.map((type: CelType) => typeName(type)))]);
    this.constructors = used.flatMap(({ constructed }) => (constructed === undefined ? [] : [constructed]));
  }

  has(feature: Feature): boolean {
    return isAtLeast(this.release, features[feature]) || (!this.isStock && feature !== 'checkedLiterals');
  }
  /** The type of objects that are made by a name. */
  constructed(name: string): ObjectType | undefined {
    for (const typeOf of this.constructors) {
      const type = typeOf(name);
      if (type !== undefined) return type;
    }
    return undefined;
  }
}
const basicTypes = ['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint'];

const has = ({ since, until, serverSince }: Library, release: string, server: string): boolean =>
  (since === undefined || isAtLeast(release, since)) &&
  (until === undefined || isAtLeast(until, release)) &&
  (serverSince === undefined || isAtLeast(server, serverSince));

function grouped(functions: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const byName = new Map<string, Overload[]>();
  for (const overload of functions) {
    const overloads = byName.get(overload.name);
    if (overloads === undefined) byName.set(overload.name, [overload]);
    else overloads.push(overload);
  }
  return byName;
}

/** Environments that were asked for without libraries of the caller's own. */
const environments = new Map<string, Environment>();

export function environmentOf(release: string, options: EnvironmentOptions = {}): Environment {
  if (options.libraries !== undefined) return new Environment(release, options);
  const key = `${release} ${options.server ?? release}`;
  let environment = environments.get(key);
  if (environment === undefined) {
    environment = new Environment(release, options);
    environments.set(key, environment);
  }
  return environment;
}

export interface Environments {
  /** For expressions that are new. */
  readonly added: Environment;
  /** For those that are stored already. */
  readonly stored: Environment;
}
/** From 1.28 on a new expression may use what the release before has: so a server can go back to that. */
export function environmentsOf(release: string, options: Omit<EnvironmentOptions, 'server'> = {}): Environments {
  const stored = environmentOf(release, options);
  if (!isAtLeast(release, '1.28')) return { added: stored, stored };
  return { added: environmentOf(`1.${minorOf(release) - 1}`, { ...options, server: release }), stored };
}
