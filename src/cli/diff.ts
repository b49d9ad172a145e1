/** `plat diff`: shows what an apply would change, by a dry run on the server. */
import { UnknownKind } from '../client/discovery.ts';
import { unifiedDiff } from '../lib/diff.ts';
import { bool, FlagError, type FlagValues, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { parseLabelSelector } from '../meta/labels.ts';
import type { JsonValue } from '../schema/types.ts';
import { stringifyYaml } from '../schema/yaml.ts';
import { command, type IO } from './command.ts';
import { conflictText, isApplyConflict } from './conflicts.ts';
import { connectFlags } from './connect.ts';
import { labelsOf, type Manifest, ManifestError, readManifests } from './manifests.ts';
import { masked } from './mask-secret.ts';
import { fileFlags, managerFlag, namespaceFlag } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { refOf } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

const diffFlags = {
  Objects: {
    ...fileFlags,
    namespace: namespaceFlag,
    selector: text('', 'Compare only objects that match this label selector.', { short: 'l', value: 'QUERY' }),
  },
  Comparing: {
    'field-manager': managerFlag,
    'force-conflicts': bool(false, 'Show the result of taking ownership of conflicting fields.'),
    'show-managed-fields': bool(false, 'Compare managedFields, too.'),
  },
  Connecting: connectFlags,
};
type DiffOptions = FlagValues<typeof diffFlags>;

export const diff = command({
  usage: '-f FILE|DIR|URL|- [flags]',
  summary: 'Show what an apply would change: plat diff -f web.yaml',
  flags: diffFlags,
  more: `
Values of secrets are not shown, only that they differ.

Exit codes:
  0   no object would change
  1   some objects would change
  2   the comparison failed, or the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`diff takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (options.filename.length === 0) throw new FlagError('which objects? For example: plat diff -f web.yaml, plat diff -f -');
    const selector = parseLabelSelector(options.selector);
    try {
      const all = await readManifests(options.filename, options.recursive, io);
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
  const where = what === '' || error instanceof ManifestError ? '' : `${what}: `;
  const message = isApplyConflict(error) ? conflictText(error) : error.message;
  io.err(`plat: ${where}${message}\n`);
  return 2;
}

class Differ {
  private readonly work: Work;
  private readonly options: DiffOptions;
  /** All manifests of the files: kinds and namespaces among them will exist. */
  private readonly all: readonly Manifest[];

  constructor(work: Work, options: DiffOptions, all: readonly Manifest[]) {
    this.work = work;
    this.options = options;
    this.all = all;
  }
  async run(manifests: readonly Manifest[]): Promise<number> {
    let worst = 0;
    for (const manifest of manifests) {
      try {
        const changes = await this.compare(manifest);
        this.work.io.out(changes);
        if (changes !== '') worst = Math.max(worst, 1);
      } catch (error) {
        if (this.work.signal.aborted) throw error;
        worst = complain(this.work.io, manifest.name === undefined ? manifest.source : `${manifest.object.kind} ${manifest.name}`, error);
      }
    }
    return worst;
  }
  private async compare(manifest: Manifest): Promise<string> {
    try {
      const resource = await this.work.discovery.forKind(manifest.object.apiVersion, manifest.object.kind);
      const ref = refOf(manifest, resource, this.work, this.options.namespace);
      const before = await this.live(ref);
      const after = await this.applied(ref, manifest);
      return this.text(shownName(resource, ref.name), before, after);
    } catch (error) {
      if (!this.isYetToCome(manifest, error)) throw error;
      return this.text(`${manifest.object.kind.toLowerCase()}/${manifest.name}`, undefined, manifest.object as ApiItem);
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
  private async applied(ref: ObjectRef, { object }: Manifest): Promise<ApiItem> {
    const { fieldManager, forceConflicts } = this.options;
    const query = { fieldManager, force: forceConflicts || undefined, dryRun: 'All' };
    return (await this.work.send(ref, { method: 'PATCH', body: object, contentType: 'application/apply-patch+yaml', query })).object;
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
  private text(shown: string, before: ApiItem | undefined, after: ApiItem): string {
    const [a, b] = masked(before === undefined ? undefined : this.tidy(before, false), this.tidy(after, before === undefined));
    const yaml = (item: ApiItem | undefined): string => (item === undefined ? '' : stringifyYaml(item as JsonValue));
    return unifiedDiff(yaml(a), yaml(b), { before: `live/${shown}`, after: `applied/${shown}` });
  }
  /** Without the fields that every write changes, and those that the server generates for a new object. */
  private tidy(item: ApiItem, isNew: boolean): ApiItem {
    const metadata = { ...item.metadata } as Record<string, unknown>;
    const dropped = [
      'resourceVersion',
      'generation',
      ...(isNew ? ['uid', 'creationTimestamp'] : []),
      ...(this.options.showManagedFields ? [] : ['managedFields']),
    ];
    for (const name of dropped) delete metadata[name];
    return { ...item, metadata } as ApiItem;
  }
}
