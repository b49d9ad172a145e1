/** `plat diff`: shows what an apply would change, by a dry run on the server. */
import { UnknownKind } from '@plat-dev/client/discovery';
import { bool, FlagError, type FlagValues, optionalBool, repeated, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import type { JsonObject } from '@plat-dev/schema/types';
import { clientSidePatch } from '../apply/client-side.ts';
import { conflictWithOthers } from '../apply/field-ownership.ts';
import { checkPruneKinds, findPruned, pruneResources } from '../apply/prune.ts';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { masked } from '../get/mask-secret.ts';
import type { Manifest } from '../objects/manifest.ts';
import { firstFaults, labelsOf, ManifestError, manifestsFrom, namesManifests, withNamespace } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import { conflictText, isApplyConflict } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { errorLine, fieldManager, isStock, reportFaults } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { Comparison } from './diff-program.ts';

const diffFlags = {
  Objects: {
    ...fileFlags,
    namespace: namespaceFlag,
    selector: text('', 'Compare only objects that match this label selector.', { short: 'l', value: 'QUERY' }),
  },
  Comparing: {
    'server-side': optionalBool('Compare with a server-side apply; false: with a client-side one.', {
      defaultText: 'true; false as kubectl',
    }),
    'field-manager': text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' }),
    'force-conflicts': bool(false, 'Show the result of taking ownership of conflicting fields.'),
    'show-managed-fields': bool(false, 'Compare managedFields, too.'),
    prune: bool(false, 'Show objects that `apply --prune` would delete, too.'),
    'prune-allowlist': repeated<readonly string[]>(
      [],
      'Prune only this kind: core/v1/ConfigMap; may be repeated.',
      'GROUP/VERSION/KIND',
      (values) => values,
    ),
  },
  'Comparing versions of one object': {
    from: text('', 'Version or time to compare from: 1234, 10m (ago), 10:32 or 2026-05-01T10:00:00Z.', { value: 'VERSION|TIME' }),
    to: text('now', 'Version or time to compare with.', { value: 'VERSION|TIME|now' }),
    status: bool(false, 'Compare the status, too.'),
  },
  Connecting: connectFlags,
};
type DiffFlags = FlagValues<typeof diffFlags>;
interface DiffOptions extends Omit<DiffFlags, 'serverSide'> {
  readonly serverSide: boolean;
}

export const diff = command({
  usage: '-f FILE|DIR|URL|- | -k DIR | TYPE/NAME --from VERSION [flags]',
  summary: 'Show what an apply would change, or what changed between versions of an object.',
  flags: diffFlags,
  more: `
Values of secrets are not shown, only that they differ. KUBECTL_EXTERNAL_DIFF names another program for the comparison, which gets
two directories: KUBECTL_EXTERNAL_DIFF="colordiff -N -u".

Examples:
  plat diff -f web.yaml
  plat diff -R -f manifests/
  plat diff -f app.yaml --prune -l app=web      also what would be deleted
  plat diff -f web.yaml --server-side=false     of a client-side apply
  plat diff deployment/web --from 10:32         what changed since; plat history lists versions

Exit codes:
  0   no object would change, or none changed
  1   some objects would change, or did
  2   the comparison failed, or the command line is wrong
`,
  async run({ options: flags, args }, io) {
    try {
      if (flags.from !== '' && !namesManifests(flags))
        return await (await import('../history/diff-versions.ts')).diffVersions(args, flags, io);
      if (args.length > 0) {
        const hint = 'name files with -f, or the version of an object to compare from with --from';
        throw new FlagError(`diff takes no arguments, but got ${JSON.stringify(args[0])}: ${hint}`);
      }
      if (!namesManifests(flags)) throw new FlagError('which objects? For example: plat diff -f web.yaml, plat diff -f -');
      const serverSide = flags.serverSide ?? !isStock(io);
      const manager = fieldManager(io, serverSide ? 'apply --server-side' : 'apply', flags.fieldManager);
      const options = { ...flags, serverSide, fieldManager: manager };
      if (options.forceConflicts && !serverSide) throw new FlagError('--force-conflicts only works with --server-side');
      checkPruneKinds(options.pruneAllowlist);
      const selector = parseLabelSelector(options.selector);
      const all = await manifestsFrom(options, io);
      const manifests = all.filter(({ object }) => selector.matches(labelsOf(object)));
      return await withServer(options, io, (work) => new Differ(work, options, all).run(manifests));
    } catch (error) {
      // Exit code 1 means that there are differences.
      return complain(io, '', error);
    }
  },
});

function complain(io: IO, what: string, error: unknown): 2 {
  if (!(error instanceof Error)) throw error;
  const where = what === '' || error instanceof ManifestError || isStock(io) ? '' : what;
  const reported = isApplyConflict(error) && !isStock(io) ? new Error(conflictText(error, io)) : error;
  // The reason of an API error is for scripts of other commands.
  io.err(isStock(io) ? errorLine(reported, io) : `plat: ${where === '' ? '' : `${where}: `}${reported.message}\n`);
  return 2;
}

class Differ {
  private readonly work: Work;
  private readonly options: DiffOptions;
  /** All manifests of the files: kinds and namespaces among them will exist. */
  private readonly all: readonly Manifest[];
  private readonly comparison: Comparison;
  private readonly uids = new Set<string>();
  private readonly namespaces = new Set<string>();

  constructor(work: Work, options: DiffOptions, all: readonly Manifest[]) {
    this.work = work;
    this.options = options;
    this.all = all;
    this.comparison = new Comparison(work.io);
  }
  async run(manifests: readonly Manifest[]): Promise<number> {
    const { io } = this.work;
    const { prune, pruneAllowlist } = this.options;
    const pruned = prune ? await pruneResources(this.work, pruneAllowlist) : [];
    const worst = isStock(io) ? await this.compareUntilFault(manifests) : await this.compareAll(manifests);
    // The stock client shows all differences or none.
    if (worst > 0 && isStock(io)) return worst;
    if (prune && worst === 0) {
      const { selector, fieldManager } = this.options;
      const manager = isStock(io) ? undefined : fieldManager;
      const options = { selector, kinds: pruneAllowlist, manager };
      for (const { ref, object } of await findPruned(this.work, pruned, this.namespaces, this.uids, options))
        this.add(ref, object, undefined);
    }
    return Math.max(worst, await this.comparison.show());
  }
  private async compareAll(manifests: readonly Manifest[]): Promise<number> {
    let worst = 0;
    for (const manifest of manifests) {
      try {
        await this.compare(manifest);
      } catch (error) {
        if (this.work.signal.aborted) throw error;
        worst = complain(this.work.io, manifest.name === undefined ? manifest.source : `${manifest.object.kind} ${manifest.name}`, error);
      }
    }
    return worst;
  }
  private async compareUntilFault(manifests: readonly Manifest[]): Promise<number> {
    const faults = await firstFaults(manifests, (manifest) => this.compare(manifest));
    if (faults.length > 0) reportFaults(faults, this.work.io);
    return faults.length > 0 ? 2 : 0;
  }
  private async compare(manifest: Manifest): Promise<void> {
    try {
      const resource = await this.work.resourceOf(manifest);
      const ref = refOf(manifest, resource, this.work, this.options.namespace);
      const object = ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace);
      const live = await this.live(ref);
      const { uid } = (live?.metadata ?? {}) as { uid?: string };
      if (uid !== undefined) this.uids.add(uid);
      if (ref.namespace !== undefined) this.namespaces.add(ref.namespace);
      this.add(ref, live, this.options.serverSide ? await this.applied(ref, object) : await this.patched(ref, object, live));
    } catch (error) {
      if (!this.isYetToCome(manifest, error)) throw error;
      const { object, name = '' } = manifest;
      const entry = {
        name: `${object.kind.toLowerCase()}/${name}`,
        file: `${object.apiVersion.replace('/', '.')}.${object.kind}..${name}`,
      };
      this.comparison.add(entry, ...masked(undefined, object as ApiItem));
    }
  }
  private async live(ref: ObjectRef): Promise<ApiItem | undefined> {
    try {
      return await this.work.get(ref);
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }
  /** The result of a server-side apply. */
  private async applied(ref: ObjectRef, object: JsonObject): Promise<ApiItem> {
    const { fieldManager, forceConflicts } = this.options;
    const send = (force: boolean) =>
      this.work.send(ref, {
        method: 'PATCH',
        body: object,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager, force: force || undefined, dryRun: 'All' },
      });
    try {
      return (await send(forceConflicts)).object;
    } catch (error) {
      if (isStock(this.work.io) || !isApplyConflict(error)) throw error;
      const others = conflictWithOthers(error, fieldManager);
      if (others !== undefined) throw others;
      // The apply takes over what its own commands wrote.
      return (await send(true)).object;
    }
  }
  /** The result of a client-side apply. */
  private async patched(ref: ObjectRef, object: JsonObject, live: ApiItem | undefined): Promise<ApiItem> {
    const query = { fieldManager: this.options.fieldManager, dryRun: 'All' };
    if (live === undefined) return (await this.work.sendTo(ref.resource, ref.namespace, { method: 'POST', body: object, query })).object;
    const metadata = { annotations: {}, ...(object.metadata as JsonObject) };
    const patch = await clientSidePatch(this.work, ref, { ...object, metadata }, live, { overwrite: true, openapiPatch: true });
    if (Object.keys(patch.body).length === 0) return live;
    return (await this.work.send(ref, { method: 'PATCH', ...patch, query })).object;
  }
  /** The files hold the definition of the kind or the namespace that is missing. */
  private isYetToCome(manifest: Manifest, error: unknown): boolean {
    if (error instanceof UnknownKind) {
      return this.all.some(({ object }) => {
        const { group, names } = (object.spec ?? {}) as { group?: string; names?: { kind?: string } };
        return (
          object.kind === 'CustomResourceDefinition' &&
          manifest.object.apiVersion.startsWith(`${group}/`) &&
          names?.kind === manifest.object.kind
        );
      });
    }
    if (!(error instanceof ApiError) || error.code !== 404 || error.details?.kind !== 'namespaces') return false;
    return this.all.some(({ object, name }) => object.kind === 'Namespace' && object.apiVersion === 'v1' && name === error.details?.name);
  }
  private add(ref: ObjectRef, before: ApiItem | undefined, after: ApiItem | undefined): void {
    const { group, version, kind } = ref.resource;
    const file = `${group === '' ? '' : `${group}.`}${version}.${kind}.${ref.namespace ?? ''}.${ref.name}`;
    const [a, b] = masked(before && this.tidy(before, false), after && this.tidy(after, before === undefined));
    this.comparison.add({ name: shownName(ref.resource, ref.name), file }, a, b);
  }
  /** Without the fields that every write changes, and those that the server generates for a new object. */
  private tidy(item: ApiItem, isNew: boolean): ApiItem {
    const metadata = { ...item.metadata } as Record<string, unknown>;
    const generated = ['resourceVersion', 'generation', ...(isNew ? ['uid', 'creationTimestamp'] : [])];
    const dropped = [...(isStock(this.work.io) ? [] : generated), ...(this.options.showManagedFields ? [] : ['managedFields'])];
    for (const name of dropped) delete metadata[name];
    return { ...item, metadata } as ApiItem;
  }
}
