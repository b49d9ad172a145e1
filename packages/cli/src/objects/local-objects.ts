/** Objects of files for commands with --local, which ask no server. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, FlagError } from '@plat-dev/lib/flags';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { IO } from '../command.ts';
import type { Results } from '../output/results.ts';
import type { Manifest } from './manifest.ts';
import { findManifests, namesManifests } from './manifests.ts';
import type { DryRun } from './object-flags.ts';
import type { ObjectRef } from './object-ref.ts';
import type { TargetOptions } from './targets.ts';

export const localFlag = bool(false, 'Change the objects of the files and print them, without a server.');

export interface LocalObject {
  readonly ref: ObjectRef;
  readonly object: Manifest['object'];
}

/** Checks the arguments of a command with --local. Throws FlagError. */
export function checkLocal(args: readonly string[], options: TargetOptions & { readonly dryRun: DryRun }): void {
  if (args.length > 0) throw new FlagError(`--local takes objects from files alone: give ${JSON.stringify(args[0])} with -f`);
  if (!namesManifests(options)) throw new FlagError('--local needs files with objects: -f web.yaml');
  if (options.dryRun === 'server') throw new FlagError('--local and --dry-run=server exclude each other: use --dry-run=client');
}

/** Files that cannot be read are reported and left out. */
export async function localObjects(options: TargetOptions, io: IO, results: Results): Promise<LocalObject[]> {
  const { manifests, broken } = await findManifests(options, io);
  for (const error of broken) results.failed('', error);
  return manifests.map(({ object, name = '', namespace }) => ({ ref: { resource: resourceOf(object), namespace, name }, object }));
}

/** What a manifest says of its resource: enough for messages, not for requests. */
function resourceOf({ apiVersion, kind }: Manifest['object']): ApiResource {
  const singularName = kind.toLowerCase();
  return {
    ...splitApiVersion(apiVersion),
    name: `${singularName}s`,
    singularName,
    kind,
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
  };
}
