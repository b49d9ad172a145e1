/** `plat delete`: deletes objects by name, file or selector, and waits until they are gone. */

import { UnknownKind } from '@plat-dev/client/discovery';
import { bool, duration, type Flag, FlagError, type FlagValues, flag, int, optionalBool, readChoice, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { withObjectHint } from '../get/hints.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { Progress } from '../terminal/progress.ts';
import { whyNotDeleted } from '../why/hint.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { Deadline, followObject } from './follow-object.ts';
import { findManifests, namesManifests, readTexts } from './manifests.ts';
import { dryRunFlag, fileFlags, namespaceFlag, selectFlags } from './object-flags.ts';
import type { ObjectRef } from './object-ref.ts';
import { sendRaw } from './raw-request.ts';
import { checkTargets, findTargets, refOf } from './targets.ts';

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
  'grace-period': int(-1, 'Seconds that pods get to terminate; -1 uses the value of the object, 0 needs --force.', { min: -1 }),
  force: bool(false, 'Delete at once: a grace period of 0.'),
  now: bool(false, 'A grace period of 1 second.'),
  timeout: duration('0s', 'Longest wait for the deletion; 0 is unlimited.', { defaultText: '0s' }),
};
const deleteFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags },
  Deleting: {
    ...deletingFlags,
    wait: bool(true, 'Wait until the objects are gone.', { defaultText: 'true' }),
    'ignore-not-found': optionalBool('Treat missing objects and unknown kinds as deleted.', {
      defaultText: 'false; true with --all or a selector',
    }),
    'dry-run': dryRunFlag,
    raw: text('', 'Send a DELETE to this path of the server, with the content of -f as its body, and print the answer.', { value: 'PATH' }),
  },
  Printing: {
    output: flag<string>('', 'Print the names alone.', 'name', (t) => readChoice(t, ['name']), { short: 'o' }),
  },
  Connecting: connectFlags,
};
type DeleteOptions = FlagValues<typeof deleteFlags>;

export const del = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE | -k DIR [flags]',
  summary: 'Delete objects: plat delete pod web, plat delete deployment/a service/b, plat delete pods -l app=web, plat delete -f web.yaml',
  flags: deleteFlags,
  more: `
Objects of files are deleted in the reverse order of the files.

Examples:
  plat delete -k overlays/test --wait=false
  plat delete pod web --force                  without waiting for the node
  plat delete deployment web --cascade=orphan  keeps its pods

Exit codes:
  0     all objects were deleted
  1     some objects failed, or the wait timed out
  2     the command line is wrong
  130   interrupted while waiting; the deletions continue
`,
  async run({ options: givenOptions, args }, io) {
    const options = checked(givenOptions, args);
    if (options.force) {
      io.err(
        'warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n',
      );
    }
    if (options.raw !== '') return withServer(options, io, (work) => deleteRaw(work, options, io));
    return withServer(options, io, (work) => new Deleter(work, options).run(args));
  },
});

function checked(options: DeleteOptions, args: readonly string[]): DeleteOptions {
  const { now, gracePeriod, force, all, selector, fieldSelector, raw, filename, recursive, output } = options;
  if (now && gracePeriod >= 0) throw new FlagError('--now and --grace-period cannot be specified together');
  if (force && gracePeriod > 0) throw new FlagError('--force and --grace-period greater than 0 cannot be specified together');
  if (all && selector !== '') throw new FlagError('cannot set --all and --selector at the same time');
  if (all && fieldSelector !== '') throw new FlagError('cannot set --all and --field-selector at the same time');
  if (raw === '') checkTargets('delete', args, options);
  else {
    if (filename.length > 1) throw new FlagError('--raw can only use a single local file or stdin');
    if (filename.some((path) => /^https?:\/\//.test(path))) throw new FlagError('--raw cannot read from a url');
    if (recursive) throw new FlagError('--raw and --recursive are mutually exclusive');
    if (output !== '') throw new FlagError('--raw and --output are mutually exclusive');
    if (!raw.startsWith('/')) throw new FlagError('--raw must be a valid URL path: it begins with a slash');
  }
  // A grace period of 0 removes a pod whose programs may still run: that needs --force.
  return gracePeriod === 0 && !force ? { ...options, gracePeriod: 1 } : options;
}

async function deleteRaw(work: Work, { raw, filename }: DeleteOptions, io: IO): Promise<number> {
  const [body] = filename.length === 0 ? [] : await readTexts(filename, false, io);
  io.out(await sendRaw(work, 'DELETE', raw, body?.text));
  return 0;
}

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

/** `: the object has finalizers a, b`, where it has some. */
function heldBy(object: ApiItem | undefined): string {
  const { finalizers = [] } = (object?.metadata ?? {}) as { finalizers?: string[] };
  return finalizers.length > 0 ? `: the object has finalizers ${finalizers.join(', ')}` : '';
}

/** Waits until an object is gone or replaced; `holds` is called with what holds one that is still there. Throws on timeout. */
export async function waitUntilGone(
  work: Work,
  ref: ObjectRef,
  uid: string | undefined,
  deadline: Deadline,
  holds: (why: string) => void = () => {},
): Promise<void> {
  let last: ApiItem | undefined;
  const isGone = await followObject(work, ref, deadline, (object) => {
    last = object;
    if (object === undefined || (uid !== undefined && (object.metadata as { uid?: string }).uid !== uid)) return true;
    holds(heldBy(object));
    return false;
  }).catch((error: unknown) => {
    // The kind is gone, and its objects with it.
    if (error instanceof ApiError && error.code === 404) return true;
    throw error;
  });
  const hint = isStock(work.io) ? '' : `; \`${whyNotDeleted(ref, work.io.repeatedFlags)}\` explains it`;
  if (!isGone) throw new Error(`timed out waiting for the deletion${heldBy(last)}${hint}`);
}

/** `deployment.apps "web" deleted`; scripts read this line. */
export function deletedLine({ resource, name }: Pick<ObjectRef, 'resource' | 'name'>, verb: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === '' ? kind : `${kind}.${resource.group}`} "${name}" ${verb}\n`;
}

class Deleter {
  private readonly work: Work;
  private readonly options: DeleteOptions;
  private readonly results: Results;
  private readonly progress: Progress;
  /** Objects of files that existed when the command began: they may go with their owner. */
  private readonly existing = new Set<ObjectRef>();

  constructor(work: Work, options: DeleteOptions) {
    this.work = work;
    this.options = options;
    this.results = new Results(work.io, { ...options, showManagedFields: false });
    this.progress = new Progress(work.io);
  }
  async run(args: readonly string[]): Promise<number> {
    const { dryRun, timeout, wait } = this.options;
    const going: { ref: ObjectRef; uid: string | undefined }[] = [];
    const refs = await this.targets(args);
    this.warnOfScope(refs);
    for (const ref of refs) {
      try {
        if (dryRun === 'client') await this.work.get(ref);
        const uid = dryRun === 'client' ? undefined : await deleteObject(this.work, ref, this.options, dryRun === 'server');
        this.done(ref);
        going.push({ ref, uid });
      } catch (error) {
        await this.failed(ref, error);
      }
    }
    if (refs.length === 0 && !namesManifests(this.options)) this.work.io.out('No resources found\n');
    const deadline = new Deadline(timeout, this.work.io.clock);
    if (wait && dryRun === 'none') {
      for (const [i, { ref, uid }] of going.entries()) await this.await(ref, uid, deadline, `${i + 1} of ${going.length}`);
      this.progress.clear();
    }
    return this.results.end();
  }
  private done(ref: ObjectRef): void {
    const { dryRun, output, force, gracePeriod } = this.options;
    const verb = force && gracePeriod <= 0 ? 'force deleted' : 'deleted';
    const note = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
    if (output === 'name') this.results.done(ref, '', {});
    else this.work.io.out(deletedLine(ref, `${verb}${note}`));
  }
  private async failed(ref: ObjectRef, error: unknown): Promise<void> {
    const isMissing = error instanceof ApiError && error.code === 404;
    if (isMissing && this.mayBeMissing()) return;
    // It went with its owner, its namespace or the definition of its kind.
    if (isMissing && this.existing.has(ref)) this.done(ref);
    else this.results.failed(shownName(ref.resource, ref.name), await withObjectHint(this.work, error, ref));
  }
  /** An object of a collection may be gone before its request. */
  private mayBeMissing(): boolean {
    const { ignoreNotFound, all, selector, fieldSelector } = this.options;
    return ignoreNotFound ?? (all || selector !== '' || fieldSelector !== '');
  }
  private warnOfScope(refs: readonly ObjectRef[]): void {
    const { namespace, allNamespaces } = this.options;
    if (namespace === undefined || allNamespaces || refs.every(({ resource }) => resource.namespaced)) return;
    this.work.io.err('warning: deleting cluster-scoped resources, not scoped to the provided namespace\n');
  }
  private async await(ref: ObjectRef, uid: string | undefined, deadline: Deadline, place: string): Promise<void> {
    if (!ref.resource.verbs.includes('list')) return;
    const displayName = shownName(ref.resource, ref.name);
    try {
      await waitUntilGone(this.work, ref, uid, deadline, (why) =>
        this.progress.show(`waiting for the deletion of ${place}: ${displayName}${why}`),
      );
    } catch (error) {
      this.progress.clear();
      this.results.failed(displayName, error);
    }
  }
  private async targets(args: readonly string[]): Promise<ObjectRef[]> {
    if (!namesManifests(this.options)) return findTargets(this.work, args, this.options);
    const refs: ObjectRef[] = [];
    const { manifests, broken } = await findManifests(this.options, this.work.io);
    this.work.leaveOut(broken);
    for (const manifest of manifests) {
      try {
        const resource = await this.work.resourceOf(manifest);
        refs.push(refOf(manifest, resource, this.work, this.options.namespace));
      } catch (error) {
        // With --ignore-not-found, kinds that are not served are skipped; the stock client knows only objects that are not found.
        const isSkipped = this.options.ignoreNotFound && error instanceof UnknownKind && !isStock(this.work.io);
        if (!isSkipped) this.results.failed(manifest.source, error);
      }
    }
    if (isStock(this.work.io)) return refs;
    if (refs.length > 1) for (const ref of refs) if (await this.work.exists(ref)) this.existing.add(ref);
    // What others need was created first: a definition goes after its objects, a namespace after its content.
    return refs.reverse();
  }
}
