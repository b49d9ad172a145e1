/** `plat apply`: creates or updates objects from files with server-side apply. */
import { type ApiResource, UnknownKind } from '../client/discovery.ts';
import { bool, type Flag, FlagError, type FlagValues, readBoolean, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { parseLabelSelector } from '../meta/labels.ts';
import { command } from './command.ts';
import { conflictText, isApplyConflict } from './conflicts.ts';
import { connectFlags } from './connect.ts';
import { labelsOf, type Manifest, readManifests } from './manifests.ts';
import { dryRunFlag, fileFlags, managerFlag, namespaceFlag, resultFlags, validateFlag } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { sameObject } from './same-object.ts';
import { refOf } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

/** Accepted for scripts written for kubectl; server-side apply is the only kind here. */
const serverSide: Flag<boolean> = {
  ...bool(true, 'Apply on the server (default).', { defaultText: 'true' }),
  read: (values) => {
    if (!readBoolean(values.at(-1) as string)) throw new Error('client-side apply is not supported: remove the flag');
    return true;
  },
};
const applyFlags = {
  Objects: {
    ...fileFlags,
    namespace: namespaceFlag,
    selector: text('', 'Apply only objects that match this label selector.', { short: 'l', value: 'QUERY' }),
  },
  Applying: {
    'field-manager': managerFlag,
    'force-conflicts': bool(false, 'Take ownership of fields that conflict with other managers.'),
    'server-side': serverSide,
    'dry-run': dryRunFlag,
    // Accepted for scripts written for kubectl.
    validate: {
      ...validateFlag,
      help: 'How to treat unknown fields, on servers where server-side apply can ignore them; most refuse them.',
    },
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
export type ApplyOptions = FlagValues<typeof applyFlags>;

/** How long to retry a kind whose CustomResourceDefinition was applied just before. */
const DEFINITION_MS = 10_000;
const POLL_MS = 100;

export const apply = command({
  usage: '-f FILE|DIR|URL|- [flags]',
  summary: 'Create or update objects from files: plat apply -f web.yaml, plat apply -R -f manifests/, helm template x | plat apply -f -',
  flags: applyFlags,
  more: `
Exit codes:
  0   all objects were applied
  1   some objects failed; the others were applied
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`apply takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (options.filename.length === 0) throw new FlagError('which objects? For example: plat apply -f web.yaml, plat apply -f -');
    const selector = parseLabelSelector(options.selector);
    const manifests = (await readManifests(options.filename, options.recursive, io)).filter(({ object }) =>
      selector.matches(labelsOf(object)),
    );
    return withServer(options, io, (work) => new Applier(work, options).run(manifests));
  },
});

class Applier {
  private readonly work: Work;
  private readonly options: ApplyOptions;
  private readonly results: Results;
  /** Deadline for kinds that are not served yet. */
  private patience = 0;

  constructor(work: Work, options: ApplyOptions) {
    this.work = work;
    this.options = options;
    this.results = new Results(work.io, options, { asList: true });
  }
  async run(manifests: readonly Manifest[]): Promise<number> {
    for (const manifest of manifests) {
      let what = manifest.source;
      try {
        const ref = refOf(manifest, await this.resourceOf(manifest), this.work, this.options.namespace);
        what = shownName(ref.resource, ref.name);
        await this.apply(ref, manifest);
      } catch (error) {
        if (isApplyConflict(error)) this.results.failed(what, new Error(conflictText(error)));
        else this.results.failed(what, error);
      }
    }
    return this.results.end();
  }
  private async apply(ref: ObjectRef, manifest: Manifest): Promise<void> {
    const { dryRun, fieldManager, forceConflicts, validate } = this.options;
    const body = ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace);
    if (dryRun === 'client') return this.results.done(ref, 'applied', body as ApiItem);
    const before = await this.before(ref);
    const { status, object } = await this.work.send(ref, {
      method: 'PATCH',
      body,
      contentType: 'application/apply-patch+yaml',
      query: {
        fieldManager,
        force: forceConflicts || undefined,
        dryRun: dryRun === 'server' ? 'All' : undefined,
        fieldValidation: validate,
      },
    });
    this.results.done(ref, status === 201 || before === null ? 'created' : outcome(before, object), object);
    if (manifest.object.kind === 'CustomResourceDefinition') this.patience = this.work.io.clock.monotonic() + DEFINITION_MS;
  }
  /** The current object; null if it does not exist, undefined if the caller may not read it. */
  private async before(ref: ObjectRef): Promise<ApiItem | null | undefined> {
    try {
      return await this.work.get(ref);
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return null;
      if (error instanceof ApiError && error.code === 403) return undefined;
      throw error;
    }
  }
  /** A kind may take a moment to be served after its definition. */
  private async resourceOf({ object }: Manifest): Promise<ApiResource> {
    for (;;) {
      try {
        return await this.work.discovery.forKind(object.apiVersion, object.kind);
      } catch (error) {
        if (!(error instanceof UnknownKind) || this.work.io.clock.monotonic() >= this.patience) throw error;
        await this.work.io.clock.sleep(POLL_MS, this.work.signal);
        this.work.forget();
      }
    }
  }
}

function outcome(before: ApiItem | undefined, after: ApiItem): string {
  if (before === undefined) return 'applied';
  return sameObject(before, after) ? 'unchanged' : 'configured';
}

export function withNamespace(object: Manifest['object'], namespace: string): Manifest['object'] {
  return { ...object, metadata: { ...(object.metadata as object), namespace } };
}
