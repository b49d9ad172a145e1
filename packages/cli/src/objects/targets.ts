/** The objects of a command: by type and name, file or selector. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { FlagError } from '@plat-dev/lib/flags';
import { targetsOf } from '../get/arguments.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';
import type { Manifest } from './manifest.ts';
import { findManifests, ManifestError, manifestsFrom, namesManifests } from './manifests.ts';
import type { ObjectRef } from './object-ref.ts';

export interface TargetOptions {
  readonly filename: readonly string[];
  readonly recursive: boolean;
  readonly kustomize?: string;
  readonly namespace: string | undefined;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly all?: boolean;
  readonly allNamespaces?: boolean;
  /** Objects to list in one request; 0 lists all at once. */
  readonly chunkSize?: number;
  /** As in `Failure`, for errors of files. */
  readonly asList?: boolean | undefined;
}

const PAGE = 500;

/** Checks the arguments before any request. `command` begins the examples. */
export function checkTargets(command: string, args: readonly string[], options: TargetOptions): void {
  const { filename, selector = '', fieldSelector = '', all = false, allNamespaces = false } = options;
  const byWhat = selector !== '' || fieldSelector !== '' || all;
  if (namesManifests(options)) {
    const flag = filename.length > 0 ? '-f' : '-k';
    if (flag === '-f' && options.kustomize) throw new FlagError('only one of -f or -k can be specified');
    if (args.length > 0) throw new FlagError(`${flag} and ${JSON.stringify(args[0])} exclude each other: the files name the objects`);
    if (byWhat || allNamespaces) throw new FlagError(`${flag} and a selector exclude each other: the files name the objects`);
    return;
  }
  const targets = targetsOf(args, `plat ${command} pod/web, plat ${command} deployment web, plat ${command} -f web.yaml`);
  const hasNames = targets.some((t) => t.names.length > 0);
  if (hasNames && byWhat) throw new FlagError('a name and --selector, --field-selector or --all exclude each other');
  if (hasNames && allNamespaces) throw new FlagError('an object cannot be named in all namespaces: choose one with -n');
  if (!hasNames && !byWhat) {
    throw new FlagError(
      `which ${targets[0]?.type}? Name them, select by label with -l, or use --all`,
      'error: resource(s) were provided, but no name was specified',
    );
  }
}

/** An object of a command, with its content if a file has it. */
export interface Target extends ObjectRef {
  readonly manifest?: Manifest['object'];
}

/** The objects, in the order of the command line. Files that cannot be read and kinds that the server does not have are reported and left out. */
export async function findTargets(work: Work, args: readonly string[], options: TargetOptions): Promise<Target[]> {
  if (namesManifests(options)) {
    const { manifests, broken } = await findManifests(options, work.io);
    work.leaveOut(broken, options);
    return targetsIn(work, await work.withResources(manifests, options), options);
  }
  const refs: ObjectRef[] = [];
  for (const { type, names } of targetsOf(args, '')) {
    if (names.length === 0) {
      for (const resource of await work.discovery.findAll(type)) refs.push(...(await inCollection(work, resource, options)));
      continue;
    }
    const resource = await work.discovery.find(type);
    const namespace = resource.namespaced ? work.namespace : undefined;
    for (const name of names) refs.push({ resource, namespace, name });
  }
  return refs;
}

/** The same for commands that need all files or nothing: an editor shows all objects at once. */
export async function findAllTargets(work: Work, args: readonly string[], options: TargetOptions): Promise<Target[]> {
  if (!namesManifests(options)) return findTargets(work, args, options);
  const manifestTargets: [Manifest, ApiResource][] = [];
  for (const manifest of await manifestsFrom(options, work.io)) manifestTargets.push([manifest, await work.resourceOf(manifest)]);
  return targetsIn(work, manifestTargets, options);
}
const targetsIn = (work: Work, manifestTargets: readonly [Manifest, ApiResource][], options: TargetOptions): Target[] =>
  manifestTargets.map(([manifest, resource]) => ({ ...refOf(manifest, resource, work, options.namespace), manifest: manifest.object }));

async function inCollection(work: Work, resource: ApiResource, options: TargetOptions): Promise<ObjectRef[]> {
  const namespace = resource.namespaced && !options.allNamespaces ? work.namespace : undefined;
  const { chunkSize = PAGE } = options;
  const refs: ObjectRef[] = [];
  let next: string | undefined;
  do {
    const { object } = await work.sendTo<ApiItem & { items?: { metadata: { name: string; namespace?: string } }[] }>(resource, namespace, {
      method: 'GET',
      query: {
        limit: chunkSize === 0 ? undefined : chunkSize,
        continue: next,
        labelSelector: options.selector,
        fieldSelector: options.fieldSelector,
      },
    });
    for (const { metadata } of object.items ?? []) refs.push({ resource, namespace: metadata.namespace, name: metadata.name });
    next = object.metadata?.continue;
  } while (next !== undefined && next !== '');
  return refs;
}

/** The object that a manifest is about. `givenNamespace` is the namespace of the command line. */
export function refOf(manifest: Manifest, resource: ApiResource, work: Work, givenNamespace: string | undefined): ObjectRef {
  const { name, source } = manifest;
  if (name === undefined) {
    throw new ManifestError(
      `${source}: the object has no metadata.name${hasGenerateName(manifest) ? '; `plat create` makes one from generateName' : ''}`,
    );
  }
  return { resource, namespace: namespaceOf(manifest, resource, work, givenNamespace), name };
}

/** That of the object, else of the command line, else of the context. Throws where the first two do not agree. */
export function namespaceOf(manifest: Manifest, resource: ApiResource, work: Work, givenNamespace: string | undefined): string | undefined {
  if (!resource.namespaced) return undefined;
  if (givenNamespace !== undefined && manifest.namespace !== undefined && manifest.namespace !== givenNamespace) {
    const own = JSON.stringify(manifest.namespace);
    throw new ManifestError(
      isStock(work.io)
        ? `the namespace from the provided object ${own} does not match the namespace ${JSON.stringify(givenNamespace)}. You must pass '--namespace=${manifest.namespace}' to perform this operation.`
        : `${manifest.source}: the object is of namespace ${own}, but the command line has -n ${givenNamespace}`,
    );
  }
  return manifest.namespace ?? work.namespace;
}
const hasGenerateName = ({ object }: Manifest): boolean =>
  (object.metadata as { generateName?: string } | undefined)?.generateName !== undefined;
