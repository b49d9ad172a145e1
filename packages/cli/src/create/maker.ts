/** The contract of what `plat create` makes from flags: a maker is a kind, its flags and the function that makes its content. */
import type { FlagTable, FlagValues } from '@plat-dev/lib/flags';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import type { Work } from '../work.ts';

/** What a maker may need. */
export interface World {
  readonly io: IO;
  readonly random: Random;
  /** Name of the object. */
  readonly name: string;
  /** Arguments after `--`. */
  readonly command: readonly string[];
  /** Names that differ by the server. */
  readonly identity: Pick<Identity, 'groupSuffix' | 'domain'>;
  /** The server. Only makers that need one may use it. */
  work(): Work;
}

export interface Maker {
  /** The arguments that name the kind: `secret generic`. */
  readonly path: string;
  /** Other names of the first of them. */
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Arguments after the path. */
  readonly usage: string;
  readonly examples: readonly string[];
  readonly flags: FlagTable[string];
  /** Without the suffix of the identity: `networking`. */
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Content that depends on what the server has, for a dry run of the client, too. */
  readonly needsServer: boolean | ((options: Readonly<Record<string, unknown>>) => boolean);
  /** Whether the content has names of the label domain, which differ by the server. */
  readonly hasDomainNames: boolean;
  /** All but kind, version, name and namespace. */
  make(options: Readonly<Record<string, unknown>>, world: World): Promise<JsonObject> | JsonObject;
}

interface Facts<F extends FlagTable[string]>
  extends Pick<Maker, 'path' | 'summary' | 'examples' | 'kind' | 'plural'>,
    Partial<Pick<Maker, 'aliases' | 'usage' | 'group' | 'namespaced' | 'needsServer' | 'hasDomainNames'>> {
  readonly flags: F;
  make(options: FlagValues<{ Making: F }>, world: World): Promise<JsonObject> | JsonObject;
}
export function maker<F extends FlagTable[string]>({ make, ...facts }: Facts<F>): Maker {
  return {
    aliases: [],
    usage: 'NAME [flags]',
    group: '',
    namespaced: true,
    needsServer: false,
    hasDomainNames: false,
    ...facts,
    make: (options, world) => make(options as FlagValues<{ Making: F }>, world),
  };
}
