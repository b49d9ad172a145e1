/** Applies the objects of manifests one after another, then prunes and waits as the flags say. */
import { type ApiResource, UnknownKind } from '@plat-dev/client/discovery';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { changeCause, withAnnotations } from '../edit/record.ts';
import { FieldChecker } from '../objects/check-fields.ts';
import { deleteObject, waitUntilGone } from '../objects/delete.ts';
import { Deadline } from '../objects/follow-object.ts';
import type { Manifest } from '../objects/manifest.ts';
import { type ManifestError, withNamespace } from '../objects/manifests.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import { conflictText, isApplyConflict, stockConflictText } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { Progress, summaryText } from '../terminal/progress.ts';
import { shownName, type Work } from '../work.ts';
import { applyOnClient, failedStep } from './client-side.ts';
import type { ApplyOptions } from './flags.ts';
import { findPruned, pruneResources } from './prune.ts';
import { applyOnServer } from './server-side.ts';
import { waitUntilReady } from './wait-ready.ts';

/** How long to retry a kind whose CustomResourceDefinition was applied just before. */
const DEFINITION_MS = 10_000;
const POLL_MS = 100;
/** Fewer objects need no summary. */
const MANY = 3;

export class Applier {
  private readonly work: Work;
  private readonly options: ApplyOptions;
  private readonly results: Results;
  private readonly fields: FieldChecker;
  private readonly progress: Progress;
  /** Deadline for kinds that are not served yet. */
  private patience = 0;
  private readonly applied: ObjectRef[] = [];
  private readonly verbs: string[] = [];
  private failures = 0;
  private readonly uids = new Set<string>();
  private readonly namespaces = new Set<string>();
  private readonly line: string;
  private cause: Readonly<Record<string, string>> | undefined;

  /** `line` is the command line, for --record. */
  constructor(work: Work, options: ApplyOptions, line: string) {
    this.work = work;
    this.options = options;
    this.line = line;
    this.results = new Results(work.io, options, { asList: true });
    this.fields = new FieldChecker(work, options.validate);
    this.progress = new Progress(work.io);
    if (options.namespace !== undefined) this.namespaces.add(options.namespace);
  }
  /** `broken`: the errors of files that could not be read. What they hold is not known, so that nothing is pruned. */
  async run(manifests: readonly Manifest[], broken: readonly ManifestError[]): Promise<number> {
    for (const error of broken) this.fail('', error);
    // A wrong kind is found before anything is changed.
    const pruned = this.options.prune ? await pruneResources(this.work, this.options.pruneWhitelist) : [];
    this.cause = await changeCause(this.work, this.options.record, this.line);
    for (const [i, manifest] of manifests.entries()) {
      if (manifests.length > MANY) this.progress.show(`applying ${i + 1} of ${manifests.length}`);
      await this.applyOne(manifest);
    }
    this.progress.clear();
    if (this.options.prune && this.failures === 0) await this.prune(pruned);
    if (manifests.length >= MANY) this.progress.note(summaryText(this.verbs, this.failures));
    const { dryRun, wait, timeout } = this.options;
    if (wait === 'ready' && dryRun === 'none') {
      for (const problem of await waitUntilReady(this.work, this.applied, timeout, this.progress)) this.fail('', new Error(problem));
    }
    return this.results.end();
  }
  private fail(what: string, error: unknown, during = ''): void {
    this.progress.clear();
    this.failures++;
    this.results.failed(what, error, during);
  }
  private async applyOne(manifest: Manifest): Promise<void> {
    let what = manifest.source;
    try {
      const ref = refOf(manifest, await this.resourceOf(manifest), this.work, this.options.namespace);
      what = shownName(ref.resource, ref.name);
      if (ref.namespace !== undefined) this.namespaces.add(ref.namespace);
      await this.apply(ref, manifest);
    } catch (error) {
      this.fail(...this.describe(error, what, manifest));
    }
  }
  /** An error and what it is about, in the words of the program that was called. */
  private describe(error: unknown, what: string, { origin }: Manifest): [what: string, error: unknown, during?: string] {
    if (!isStock(this.work.io)) return [what, isApplyConflict(error) ? new Error(conflictText(error, this.work.io)) : error];
    if (isApplyConflict(error)) return ['', new Error(stockConflictText(error))];
    const step = failedStep(error);
    return ['', error, step === undefined ? '' : `error when ${step} ${JSON.stringify(origin)}`];
  }
  private async apply(ref: ObjectRef, manifest: Manifest): Promise<void> {
    const { serverSide, dryRun, validate } = this.options;
    const namespaced = ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace);
    const object = withAnnotations(namespaced, this.cause);
    const common = { fieldManager: this.options.fieldManager, fieldValidation: validate, dryRun };
    if (!serverSide) await this.fields.check(ref.resource, object, manifest.origin);
    const { verb, object: after } = serverSide
      ? await this.applyOnServer(ref, object, common)
      : await applyOnClient(this.work, ref, object, {
          ...common,
          overwrite: this.options.overwrite,
          openapiPatch: this.options.openapiPatch,
          ...(this.options.force && { recreate: (ref: ObjectRef) => this.remove(ref) }),
        });
    this.done(ref, serverSide && isStock(this.work.io) ? 'serverside-applied' : verb, after);
    if (manifest.object.kind === 'CustomResourceDefinition') this.patience = this.work.io.clock.monotonic() + DEFINITION_MS;
  }
  private async applyOnServer(
    ref: ObjectRef,
    object: JsonObject,
    common: { fieldManager: string; fieldValidation: string; dryRun: 'none' | 'client' | 'server' },
  ): Promise<{ verb: string; object: ApiItem }> {
    if (common.dryRun === 'client') return { verb: 'applied', object: object as ApiItem };
    const options = { ...common, forceConflicts: this.options.forceConflicts, takeOver: !isStock(this.work.io) };
    try {
      return await applyOnServer(this.work, ref, object, options);
    } catch (error) {
      if (!this.options.force || !(error instanceof ApiError) || error.reason !== 'Invalid') throw error;
      await this.remove(ref);
      return { ...(await applyOnServer(this.work, ref, object, options)), verb: 'configured' };
    }
  }
  private done(ref: ObjectRef, verb: string, object: ApiItem): void {
    const { uid, deletionTimestamp } = (object.metadata ?? {}) as { uid?: string; deletionTimestamp?: string };
    this.progress.clear();
    if (deletionTimestamp !== undefined) {
      this.work.io.err(`Warning: Detected changes to resource ${ref.name} which is currently being deleted.\n`);
    }
    this.results.done(ref, verb, object);
    this.verbs.push(verb);
    this.applied.push(ref);
    if (uid !== undefined) this.uids.add(uid);
  }
  /** Deletes an object and waits until it is gone. */
  private async remove(ref: ObjectRef): Promise<void> {
    const { cascade, gracePeriod, timeout } = this.options;
    const uid = await deleteObject(this.work, ref, { cascade, gracePeriod, force: false, now: false });
    await waitUntilGone(this.work, ref, uid, new Deadline(timeout, this.work.io.clock));
  }
  private async prune(resources: readonly ApiResource[]): Promise<void> {
    const { selector, pruneWhitelist, fieldManager, dryRun, cascade, gracePeriod, wait, timeout } = this.options;
    const manager = isStock(this.work.io) ? undefined : fieldManager;
    const deadline = new Deadline(timeout, this.work.io.clock);
    for (const { ref, object } of await findPruned(this.work, resources, this.namespaces, this.uids, {
      selector,
      kinds: pruneWhitelist,
      manager,
    })) {
      try {
        if (dryRun !== 'client') {
          const uid = await deleteObject(this.work, ref, { cascade, gracePeriod, force: false, now: false }, dryRun === 'server');
          if (wait !== 'false' && dryRun === 'none') await waitUntilGone(this.work, ref, uid, deadline);
        }
        this.results.done(ref, 'pruned', object);
        this.verbs.push('pruned');
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) continue;
        this.fail(shownName(ref.resource, ref.name), error);
      }
    }
  }
  /** A kind may take a moment to be served after its definition. */
  private async resourceOf(manifest: Manifest): Promise<ApiResource> {
    for (;;) {
      try {
        return await this.work.resourceOf(manifest);
      } catch (error) {
        if (!(error instanceof UnknownKind) || this.work.io.clock.monotonic() >= this.patience) throw error;
        await this.work.io.clock.sleep(POLL_MS, this.work.signal);
        this.work.forget();
      }
    }
  }
}
