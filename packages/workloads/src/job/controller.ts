/**
 * Runs the pods of jobs until enough have succeeded. A key is processed on what all earlier writes left behind: each run ends when
 * the informers have its own writes.
 */
import { isConflict, unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { isTerminating as isTerminatingNamespace } from '@plat-dev/controllers/runtime/manager';
import { SelectorIndex, selectedBy } from '@plat-dev/controllers/runtime/selector-index';
import { equal } from '@plat-dev/lib/equal';
import { noLabel } from '@plat-dev/meta/labels';
import { formatTime } from '@plat-dev/meta/time';
import { claim } from '../shared/claim.ts';
import { EventRecorder } from '../shared/events.ts';
import { PodControl, slowStart } from '../shared/pod-control.ts';
import { isActive, isReady } from '../shared/pod-state.ts';
import { controllerOf, type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { type CountedJob, type Counts, collect, countPods, isAllCounted, moveCounted, numbers } from './counting.ts';
import { backoffLeft, deadlineLeft, restartsExceedLimit } from './failures.ts';
import {
  aboutJob,
  backoffLimitOf,
  type Condition,
  completionsOf,
  hasFinalizer,
  isFinishedJob,
  isIndexed,
  isMarkedTracked,
  isSuspended,
  type JobNames,
  type JobObject,
  jobNames,
  newCondition,
  type Status,
  wasSuspended,
  withCondition,
} from './job.ts';
import { plan, podOf, templateOf } from './plan.ts';

export interface JobSettings {
  /** Pods of marked jobs are counted by their finalizers. */
  readonly tracking: boolean;
  /** The status has the number of ready pods. */
  readonly readyPods: boolean;
  /** So are those of all jobs, which need no mark for it. */
  readonly tracksAll?: boolean;
  /** A job says what it will end with before it ends, as releases from 1.31 on demand. */
  readonly announcesEnd?: boolean;
  /** Other controllers may manage a job. */
  readonly managers?: boolean;
}

/** Delays of keys whose requests fail: by a quota, for example. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 6 * 60_000;
/** Jobs that are processed at a time. */
const WORKERS = 10;

export const jobController = (settings: JobSettings): Controller => ({
  name: 'job',
  account: 'job-controller',
  start(context) {
    const { informers, queue, identity } = context;
    const names = jobNames(identity);
    const ref = workloadRefs(identity).jobs;
    const index = podIndex(informers);
    const jobs = informers.of<JobObject>(ref, { takesWritersObjects: true });
    const selecting = new SelectorIndex(jobs, (job) => (isFinishedJob(job) ? undefined : job.spec?.selector));
    const look = (job: JobObject): void => work.add(keyOf(job));
    const isTracked = (job: JobObject): boolean => settings.tracking && (settings.tracksAll === true || isMarkedTracked(job, names));
    const run = new JobRun(context, { jobs, selecting, index, names, settings, isTracked });
    const after = [jobs.synced, index.informer.synced];
    const retry = { firstRetryMs: FIRST_RETRY_MS, longestRetryMs: LONGEST_RETRY_MS };
    const work = queue((key) => run.sync(key), { after, workers: WORKERS, ...retry });
    const orphans = queue((key) => run.releaseOrphan(key), { after, name: 'job_orphan_pod', ...retry });

    /** The job that a pod belongs to, if it is known. */
    const ownerOf = (pod: WorkloadPod): JobObject | undefined => {
      const owner = controllerOf(pod);
      if (owner?.kind !== 'Job') return undefined;
      const job = jobs.get(pod.metadata.namespace ?? '', owner.name);
      return job?.metadata.uid === owner.uid ? job : undefined;
    };
    jobs.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
      else for (const pod of index.ownedBy(object.metadata.uid ?? '')) if (hasFinalizer(pod, names)) orphans.add(keyOf(pod));
    });
    index.informer.onChange(({ type, object, old }) => {
      const job = ownerOf(object);
      const oldOwner = old === undefined ? undefined : ownerOf(old);
      if (job !== undefined) work.add(keyOf(job));
      if (oldOwner !== undefined && oldOwner !== job) work.add(keyOf(oldOwner));
      if (type === 'deleted') return;
      if (hasFinalizer(object, names) && (job === undefined || isFinishedJob(job) || !isTracked(job))) orphans.add(keyOf(object));
      if (controllerOf(object) !== undefined || object.metadata.deletionTimestamp !== undefined) return;
      selecting.forLabels(object.metadata.namespace ?? '', object.metadata.labels, look);
    });
  },
});

interface Parts {
  readonly jobs: Informer<JobObject>;
  readonly selecting: SelectorIndex<JobObject>;
  readonly index: PodIndex;
  readonly names: JobNames;
  readonly settings: JobSettings;
  readonly isTracked: (job: JobObject) => boolean;
}

/** What a run has found and done so far. */
interface Progress {
  active: number;
  status: Status;
  finished: Condition | undefined;
  error: unknown;
  /** When to look again, in milliseconds. */
  readonly waits: number[];
}

class JobRun {
  private readonly context: ControllerContext;
  private readonly parts: Parts;
  private readonly recorder: EventRecorder;
  private readonly control: PodControl;

  constructor(context: ControllerContext, parts: Parts) {
    this.context = context;
    this.parts = parts;
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'job-controller' });
    this.control = new PodControl(context.client, this.recorder);
  }
  private get ref() {
    return workloadRefs(this.context.identity).jobs;
  }

  async sync(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key);
    const { jobs, names, isTracked } = this.parts;
    const job = jobs.get(namespace, name);
    if (job === undefined || isFinishedJob(job) || this.isManagedElsewhere(job)) return undefined;
    const tracked = isTracked(job);
    if (!tracked && isMarkedTracked(job, names)) return this.unmark(job);
    if (!['NonIndexed', 'Indexed', undefined].includes(job.spec?.completionMode)) {
      this.recorder.event(aboutJob(job), 'Warning', 'UnknownCompletionMode', 'Skipped Job sync because completion mode is unknown');
      return undefined;
    }
    const pods = await this.podsOf(job, tracked);
    return this.advance({ job, pods, names, tracked });
  }

  private isManagedElsewhere({ spec }: JobObject): boolean {
    const { managedBy } = spec ?? {};
    return this.parts.settings.managers === true && managedBy != null && managedBy !== `${this.context.identity.domain}/job-controller`;
  }

  private async advance(counted: CountedJob): Promise<number | undefined> {
    const { job, pods, tracked } = counted;
    const { clock } = this.context;
    const now = clock.now();
    const counts = countPods(counted);
    const active = pods.filter(isActive);
    const oldStatus = job.status ?? {};
    // The deadline of a job that is resumed begins again.
    const started = isSuspended(job) || !wasSuspended(job) ? oldStatus.startTime : undefined;
    const startTime = started ?? (isSuspended(job) ? undefined : formatTime(now));
    const progress: Progress = {
      active: active.length,
      status: { ...oldStatus, ...(startTime !== undefined && { startTime }) },
      finished: this.failure(counted, counts, startTime, now),
      error: undefined,
      waits: [],
    };
    const remainingMs = deadlineLeft(job, startTime, now);
    if (remainingMs !== undefined && remainingMs > 0) progress.waits.push(remainingMs);

    let { failed } = counts;
    if (progress.finished !== undefined) {
      const removedCount = await this.removeActive(job, active, progress);
      // Without tracking all active pods count as removed.
      if (!tracked) failed += active.length;
      else if (removedCount !== active.length) progress.finished = undefined;
      progress.active -= tracked ? removedCount : active.length;
    } else await this.manage(counted, active, counts, progress, now);

    progress.status = {
      ...progress.status,
      ...numbers({ active: progress.active }),
      ...(this.parts.settings.readyPods && { ready: this.readyCount(active, progress.active) }),
    };
    if (tracked) await this.writeTracked(counted, progress);
    else await this.writeCounts(job, { ...counts, failed }, progress);
    if (progress.error !== undefined && !isTerminatingNamespace(progress.error)) throw progress.error;
    return progress.waits.length === 0 || isFinishedJob({ ...job, status: progress.status }) ? undefined : Math.min(...progress.waits);
  }

  /** Pods that were ready, at most as many as there are now where the server checks that. */
  private readyCount(active: readonly WorkloadPod[], now: number): number {
    const ready = active.filter(isReady).length;
    return this.parts.settings.announcesEnd ? Math.min(ready, now) : ready;
  }

  /** The condition with which a job ends because it failed. */
  private failure({ job, pods }: CountedJob, { failed }: Counts, startTime: string | undefined, now: number): Condition | undefined {
    if (failed > backoffLimitOf(job) || restartsExceedLimit(job, pods))
      return newCondition('Failed', 'True', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit', now);
    if ((deadlineLeft(job, startTime, now) ?? 1) <= 0)
      return newCondition('Failed', 'True', 'DeadlineExceeded', 'Job was active longer than specified deadline', now);
    return undefined;
  }

  /** Creates and removes pods, and finds out whether the job is complete or suspended. */
  private async manage(
    counted: CountedJob,
    active: readonly WorkloadPod[],
    counts: Counts,
    progress: Progress,
    now: number,
  ): Promise<void> {
    const { job, pods, names, tracked } = counted;
    const isGoing = job.metadata.deletionTimestamp !== undefined;
    if (!isGoing) {
      const next = plan(job, active, counts, names);
      if (next.remove.length > 0) {
        if (tracked) await this.release(next.remove);
        progress.active -= await this.removeActive(job, next.remove, progress);
      } else if (next.create > 0) {
        const wait = backoffLeft(pods, now);
        if (wait > 0) progress.waits.push(wait);
        else progress.active += await this.createPods(job, next.create, next.indexes, tracked, progress);
      }
    }
    const completions = completionsOf(job);
    const enough = completions === undefined ? counts.succeeded > 0 : counts.succeeded >= completions;
    if (enough && progress.active === 0) progress.finished = newCondition('Complete', 'True', '', '', now);
    else if (!isGoing) this.showSuspension(job, progress, now);
  }

  private showSuspension(job: JobObject, progress: Progress, now: number): void {
    const condition = isSuspended(job)
      ? newCondition('Suspended', 'True', 'JobSuspended', 'Job suspended', now)
      : newCondition('Suspended', 'False', 'JobResumed', 'Job resumed', now);
    const conditions = withCondition(progress.status.conditions ?? [], condition);
    if (conditions === undefined) return;
    progress.status = { ...progress.status, conditions };
    if (isSuspended(job)) this.recorder.event(aboutJob(job), 'Normal', 'Suspended', 'Job suspended');
    else this.recorder.event(aboutJob(job), 'Normal', 'Resumed', 'Job resumed');
  }

  private async createPods(
    job: JobObject,
    count: number,
    indexes: readonly number[],
    tracked: boolean,
    progress: Progress,
  ): Promise<number> {
    const { names, index } = this.parts;
    const template = templateOf(job, names, tracked);
    const about = aboutJob(job);
    const { created, error } = await slowStart(count, (i) => this.control.create(podOf(job, template, names, indexes[i]), about));
    progress.error ??= error;
    await Promise.all(created.map((pod) => index.informer.whenArrived(pod)));
    return created.length;
  }

  /** Deletes pods; returns how many. */
  private async removeActive(job: JobObject, pods: readonly WorkloadPod[], progress: Progress): Promise<number> {
    const about = aboutJob(job);
    const results = await Promise.allSettled(pods.map((pod) => this.control.delete(pod, about)));
    const removedPods = pods.filter((_, i) => results[i]?.status === 'fulfilled');
    progress.error ??= (results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined)?.reason;
    await Promise.all(removedPods.map((pod) => this.parts.index.informer.gone(pod)));
    return removedPods.length;
  }

  // ---- status ------------------------------------------------------------------------------------------------------

  private async writeCounts(job: JobObject, { succeeded, failed, indexes }: Counts, progress: Progress): Promise<void> {
    const { uncountedTerminatedPods: _left, ...status } = progress.status;
    const text = indexes.toString();
    progress.status = {
      ...status,
      ...numbers({ succeeded, failed }),
      ...(isIndexed(job) && text !== '' && { completedIndexes: text }),
    };
    const report = this.finish(job, progress);
    await this.write(job, progress.status);
    report();
  }

  private async writeTracked(counted: CountedJob, progress: Progress): Promise<void> {
    const { index } = this.parts;
    // As they are after this run has created and removed some.
    const claimed = new Set(counted.pods.map((pod) => pod.metadata.uid));
    const pods = [...index.ownedBy(counted.job.metadata.uid ?? '')].filter((pod) => claimed.has(pod.metadata.uid));
    const { status, release, more } = collect({ ...counted, pods }, progress.status, progress.finished !== undefined);
    const job = await this.write(counted.job, status);
    const released = await this.release(release);
    const unreleased = new Set(pods.flatMap(({ metadata: { uid = '' } }) => (released.has(uid) ? [] : uid)));
    progress.status = moveCounted(status, (uid) => unreleased.has(uid));
    const report = more || !isAllCounted(progress.status) ? () => {} : this.finish(job, progress);
    await this.write(job, progress.status);
    report();
  }

  /** Puts the condition of a finished job into its status. Returns what reports it, once it is written. */
  private finish(job: JobObject, progress: Progress): () => void {
    const { finished, status } = progress;
    if (finished === undefined) return () => {};
    const { type, reason = '', message = '', lastTransitionTime } = finished;
    let conditions = status.conditions ?? [];
    for (const condition of this.endOf(finished)) conditions = withCondition(conditions, condition) ?? conditions;
    progress.status = { ...status, conditions };
    const about = aboutJob(job);
    if (type !== 'Complete') return () => this.recorder.event(about, 'Warning', reason, message);
    progress.status.completionTime = lastTransitionTime as string;
    const completions = completionsOf(job);
    return () => {
      if (completions !== undefined && (status.succeeded ?? 0) > completions)
        this.recorder.event(about, 'Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached');
      this.recorder.event(about, 'Normal', 'Completed', 'Job completed');
    };
  }

  /** The conditions of the end of a job: the one that announces it, and its own. */
  private endOf(finished: Condition): Condition[] {
    if (!this.parts.settings.announcesEnd) return [finished];
    if (finished.type !== 'Complete') return [{ ...finished, type: 'FailureTarget' }, finished];
    const complete = { ...finished, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
    return [{ ...complete, type: 'SuccessCriteriaMet' }, complete];
  }

  /** Writes a status that differs; returns the job as it is then. */
  private async write(job: JobObject, status: Status): Promise<JobObject> {
    if (equal(status, job.status ?? {})) return job;
    const { apiVersion, kind } = aboutJob(job);
    const updated = await this.context.client.update<JobObject>(this.ref, { ...job, apiVersion, kind, status } as JobObject, 'status');
    await this.parts.jobs.whenArrived(updated);
    return updated;
  }

  // ---- pods --------------------------------------------------------------------------------------------------------

  /** The pods of a job, after adoption and release. */
  private async podsOf(job: JobObject, tracked: boolean): Promise<WorkloadPod[]> {
    const { index, names, selecting } = this.parts;
    const { namespace = '', name = '', uid = '' } = job.metadata;
    const selector = selecting.selectorOf(job) ?? noLabel;
    return claim<WorkloadPod>({
      client: this.context.client,
      resource: refs.pods,
      owner: aboutJob(job),
      matches: ({ metadata }) => selector.matches(metadata.labels),
      mayAdopt: async () => {
        const live = await this.context.client.find<JobObject>(this.ref, namespace, name);
        return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
      },
      candidates: [...index.ownedBy(uid), ...(await selectedBy(selector, index.orphansIn(namespace)))],
      ...(tracked && { finalizer: names.finalizer }),
    });
  }

  /** Removes the finalizer from pods; returns the uids of those that have it no more. */
  private async release(pods: readonly WorkloadPod[]): Promise<ReadonlySet<string>> {
    const released = new Set<string>();
    const results = await Promise.allSettled(pods.map((pod) => this.dropFinalizer(pod)));
    pods.forEach((pod, i) => {
      if (results[i]?.status === 'fulfilled') released.add(pod.metadata.uid ?? '');
    });
    const failed = results.find((result) => result.status === 'rejected' && !isConflict(result.reason));
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    return released;
  }
  private async dropFinalizer(pod: WorkloadPod): Promise<void> {
    const { namespace = '', name = '', uid, resourceVersion, finalizers = [] } = pod.metadata;
    const { finalizer } = this.parts.names;
    const rest = finalizers.filter((one) => one !== finalizer);
    if (rest.length === finalizers.length) return;
    const patched = await this.context.client
      .patch(refs.pods, namespace, name, { metadata: { uid, resourceVersion, finalizers: rest } })
      .catch(unlessGone);
    if (patched !== undefined) await this.parts.index.informer.whenArrived(patched);
  }

  /** Removes the finalizer from a pod that no job will count. */
  async releaseOrphan(key: string): Promise<undefined> {
    const { namespace, name } = splitKey(key);
    const { jobs, index, names, isTracked } = this.parts;
    const pod = index.informer.get(namespace, name);
    if (pod === undefined || !hasFinalizer(pod, names)) return;
    const owner = controllerOf(pod);
    if (owner?.kind === 'Job') {
      const ownerJob = jobs.get(namespace, owner.name);
      if (ownerJob?.metadata.uid === owner.uid) {
        if (isTracked(ownerJob) && !isFinishedJob(ownerJob)) return;
      } else {
        // The informer of jobs may be behind that of pods.
        const live = await this.context.client.find(this.ref, namespace, owner.name, true);
        if (live?.metadata.uid === owner.uid) return;
      }
    }
    await this.dropFinalizer(pod);
  }

  /** Tracking is off: the mark of an earlier time goes. */
  private async unmark(job: JobObject): Promise<undefined> {
    const { namespace = '', name = '', uid } = job.metadata;
    const patch = { metadata: { uid, annotations: { [this.parts.names.tracking]: null } } };
    const patched = await this.context.client.patch(this.ref, namespace, name, patch).catch(unlessGone);
    if (patched !== undefined) await this.parts.jobs.whenArrived(patched);
  }
}
