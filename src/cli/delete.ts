/** `plat delete`: deletes objects by name, file or selector, and waits until they are gone. */
import { UnknownKind } from '../client/discovery.ts';
import { bool, duration, type Flag, FlagError, type FlagValues, flag, int, readChoice } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { Deadline, followObject } from './follow-object.ts';
import { readManifests } from './manifests.ts';
import { dryRunFlag, fileFlags, namespaceFlag, selectFlags } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { checkTargets, findTargets, refOf } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

type Cascade = 'background' | 'foreground' | 'orphan';
const cascade: Flag<Cascade> = {
  ...flag<Cascade>(
    'background',
    'How to treat dependents: delete in the background, delete before the owner (foreground), or orphan.',
    'background|foreground|orphan',
    (t) => (t === 'true' ? 'background' : t === 'false' ? 'orphan' : readChoice(t, ['background', 'foreground', 'orphan'])),
  ),
  isSwitch: true,
};
export const deletingFlags = {
  cascade,
  'grace-period': int(-1, 'Seconds that pods get to terminate; -1 uses the value of the object.', { min: -1 }),
  force: bool(false, 'Delete at once: a grace period of 0.'),
  now: bool(false, 'A grace period of 1 second.'),
  timeout: duration('0s', 'Longest wait for the deletion; 0 is unlimited.', { defaultText: '0s' }),
};
const deleteFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags },
  Deleting: {
    ...deletingFlags,
    wait: bool(true, 'Wait until the objects are gone.', { defaultText: 'true' }),
    'ignore-not-found': bool(false, 'Treat missing objects and unknown kinds as deleted.'),
    'dry-run': dryRunFlag,
  },
  Printing: {
    output: flag<string>('', 'Print the names alone.', 'name', (t) => readChoice(t, ['name']), { short: 'o' }),
  },
  Connecting: connectFlags,
};
type DeleteOptions = FlagValues<typeof deleteFlags>;

export const del = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE [flags]',
  summary: 'Delete objects: plat delete pod web, plat delete deployment/a service/b, plat delete pods -l app=web, plat delete -f web.yaml',
  flags: deleteFlags,
  more: `
Exit codes:
  0     all objects were deleted
  1     some objects failed, or the wait timed out
  2     the command line is wrong
  130   interrupted while waiting; the deletions continue
`,
  async run({ options, args }, io) {
    checkTargets('delete', args, options);
    if (options.now && options.gracePeriod >= 0) throw new FlagError('--now and --grace-period exclude each other');
    return withServer(options, io, (work) => new Deleter(work, options).run(args));
  },
});

/** Sends the request; returns the uid of the object. */
export async function deleteObject(
  work: Work,
  ref: ObjectRef,
  options: Pick<DeleteOptions, 'cascade' | 'gracePeriod' | 'force' | 'now'>,
  dryRun = false,
): Promise<string | undefined> {
  const seconds = options.now ? 1 : options.gracePeriod >= 0 ? options.gracePeriod : options.force ? 0 : undefined;
  const { object } = await work.send<ApiItem & { details?: { uid?: string }; metadata?: { uid?: string } }>(ref, {
    method: 'DELETE',
    query: { dryRun: dryRun ? 'All' : undefined },
    body: {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' }[options.cascade],
      ...(seconds !== undefined && { gracePeriodSeconds: seconds }),
      ...(dryRun && { dryRun: ['All'] }),
    },
  });
  return object.metadata?.uid ?? object.details?.uid;
}

/** Waits until an object is gone or replaced. Throws on timeout. */
export async function waitUntilGone(work: Work, ref: ObjectRef, uid: string | undefined, deadline: Deadline): Promise<void> {
  let last: ApiItem | undefined;
  const gone = await followObject(work, ref, deadline, (object) => {
    last = object;
    return object === undefined || (uid !== undefined && (object.metadata as { uid?: string }).uid !== uid);
  });
  if (gone) return;
  const { finalizers = [] } = (last?.metadata ?? {}) as { finalizers?: string[] };
  throw new Error(
    `timed out waiting for the deletion${finalizers.length > 0 ? `: the object has finalizers ${finalizers.join(', ')}` : ''}`,
  );
}

class Deleter {
  private readonly work: Work;
  private readonly options: DeleteOptions;
  private readonly results: Results;

  constructor(work: Work, options: DeleteOptions) {
    this.work = work;
    this.options = options;
    this.results = new Results(work.io, { ...options, showManagedFields: false });
  }
  async run(args: readonly string[]): Promise<number> {
    const { dryRun, timeout, wait, force } = this.options;
    const going: { ref: ObjectRef; uid: string | undefined }[] = [];
    const refs = await this.targets(args);
    for (const ref of refs) {
      try {
        if (dryRun === 'client') await this.work.get(ref);
        const uid = dryRun === 'client' ? undefined : await deleteObject(this.work, ref, this.options, dryRun === 'server');
        this.results.done(ref, force ? 'force deleted' : 'deleted', {});
        going.push({ ref, uid });
      } catch (error) {
        if (!(this.mayBeMissing() && error instanceof ApiError && error.code === 404)) {
          this.results.failed(shownName(ref.resource, ref.name), error);
        }
      }
    }
    if (refs.length === 0 && this.options.filename.length === 0) this.work.io.err('No resources found\n');
    const deadline = new Deadline(timeout, this.work.io.clock);
    if (wait && dryRun === 'none') for (const { ref, uid } of going) await this.await(ref, uid, deadline);
    return this.results.end();
  }
  /** An object of a collection may be gone before its request. */
  private mayBeMissing(): boolean {
    const { ignoreNotFound, all, selector, fieldSelector } = this.options;
    return ignoreNotFound || all || selector !== '' || fieldSelector !== '';
  }
  private async await(ref: ObjectRef, uid: string | undefined, deadline: Deadline): Promise<void> {
    if (!ref.resource.verbs.includes('list')) return;
    try {
      await waitUntilGone(this.work, ref, uid, deadline);
    } catch (error) {
      this.results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  /** With --ignore-not-found, manifests of kinds that are not served are skipped. */
  private async targets(args: readonly string[]): Promise<ObjectRef[]> {
    const { filename, recursive, ignoreNotFound, namespace } = this.options;
    if (filename.length === 0) return findTargets(this.work, args, this.options);
    const refs: ObjectRef[] = [];
    for (const manifest of await readManifests(filename, recursive, this.work.io)) {
      try {
        const resource = await this.work.discovery.forKind(manifest.object.apiVersion, manifest.object.kind);
        refs.push(refOf(manifest, resource, this.work, namespace));
      } catch (error) {
        if (!(ignoreNotFound && error instanceof UnknownKind)) this.results.failed(manifest.source, error);
      }
    }
    return refs;
  }
}
