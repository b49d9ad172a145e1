/** Creates the jobs of cron jobs when they are due, and removes old ones. */
import type { Brief } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound, unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Controller, ControllerContext } from '@plat-dev/controllers/runtime/controller';
import { isTerminating } from '@plat-dev/controllers/runtime/manager';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { equal } from '@plat-dev/lib/equal';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { isComplete, isFinishedJob, type JobObject } from '../job/job.ts';
import { EventRecorder, type EventType } from '../shared/events.ts';
import { messageOf } from '../shared/pod-control.ts';
import { controllerOf } from '../shared/pods.ts';
import { type WorkloadRefs, workloadRefs } from '../shared/refs.ts';
import {
  type ActiveJob,
  aboutCronJob,
  type CronJobObject,
  type CronStatus,
  dueRun,
  jobFrom,
  jobNameOf,
  jobsBeyondHistory,
  MAX_MISSED,
  referenceTo,
  scheduleOf,
} from './cronjob.ts';
import type { Schedule } from './schedule.ts';

export interface CronJobSettings {
  /** `spec.timeZone` has an effect. */
  readonly timeZones: boolean;
}

/** Cron jobs whose reported runs are known; others are reported again. */
const REPORTED = 10_000;

export const cronJobController = (settings: CronJobSettings): Controller => ({
  name: 'cronjob',
  account: 'cronjob-controller',
  start(context) {
    const { informers, queue, identity } = context;
    const refs = workloadRefs(identity);
    const cronJobs = informers.of<CronJobObject>(refs.cronJobs, { takesWritersObjects: true });
    const jobs = informers.of<JobObject>(refs.jobs, { takesWritersObjects: true });
    /** Jobs by the uid of their cron job. */
    const children = new Map<string, Map<string, JobObject>>();
    const run = new CronRun(context, { cronJobs, jobs, refs, settings, childrenOf: (uid) => [...(children.get(uid)?.values() ?? [])] });
    const work = queue((key) => run.sync(key), { after: [cronJobs.synced, jobs.synced] });
    cronJobs.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
    jobs.onChange(({ type, object, old }) => {
      for (const job of old === undefined ? [object] : [old, object]) {
        const owner = controllerOf(job);
        if (owner?.kind !== 'CronJob') continue;
        const ownJobs = children.get(owner.uid) ?? new Map<string, JobObject>();
        if (type === 'deleted' || job !== object) ownJobs.delete(keyOf(job));
        else ownJobs.set(keyOf(job), job);
        if (ownJobs.size === 0) children.delete(owner.uid);
        else children.set(owner.uid, ownJobs);
        work.add(`${job.metadata.namespace ?? ''}/${owner.name}`);
      }
    });
  },
});

interface Parts {
  readonly cronJobs: Informer<CronJobObject>;
  readonly jobs: Informer<JobObject>;
  readonly refs: WorkloadRefs;
  readonly settings: CronJobSettings;
  readonly childrenOf: (uid: string) => JobObject[];
}

class CronRun {
  private readonly context: ControllerContext;
  private readonly parts: Parts;
  private readonly recorder: EventRecorder;
  /** The missed run that was reported last, by the uid of the cron job. */
  private readonly reported = new BoundedCache<string, number>(REPORTED);

  constructor(context: ControllerContext, parts: Parts) {
    this.context = context;
    this.parts = parts;
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'cronjob-controller' });
  }

  async sync(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key);
    const cronJob = this.parts.cronJobs.get(namespace, name);
    if (cronJob === undefined) return undefined;
    const jobs = this.parts.childrenOf(cronJob.metadata.uid ?? '');
    let status = await this.withoutEnded(cronJob, jobs);
    let wait: number | undefined;
    let failure: { error: unknown } | undefined;
    try {
      const started = await this.startDue({ ...cronJob, status });
      status = started.status;
      wait = started.wait;
    } catch (error) {
      failure = { error };
    }
    for (const job of jobsBeyondHistory(cronJob, jobs)) await this.remove(cronJob, job);
    await this.write(cronJob, status);
    if (failure !== undefined) throw failure.error;
    return wait;
  }

  private event(cronJob: CronJobObject, type: EventType, reason: string, message: string): void {
    this.recorder.event(aboutCronJob(cronJob), type, reason, message);
  }

  /** The status without jobs that are finished or gone, and with the time of the last success. */
  private async withoutEnded(cronJob: CronJobObject, jobs: readonly JobObject[]): Promise<CronStatus> {
    const oldStatus = cronJob.status ?? {};
    const active = new Map((oldStatus.active ?? []).map((one) => [one.uid, one]));
    let success = oldStatus.lastSuccessfulTime;
    for (const job of jobs) {
      const { uid = '', name = '' } = job.metadata;
      if (!isFinishedJob(job)) {
        if (!active.has(uid))
          this.event(cronJob, 'Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`);
        continue;
      }
      if (active.delete(uid)) {
        const result = isComplete(job) ? 'Complete' : 'Failed';
        this.event(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, status: ${result}`);
      }
      const completionTime = job.status?.completionTime;
      if (completionTime != null && (success == null || timeMillis(completionTime) > timeMillis(success))) success = completionTime;
    }
    const jobUids = new Set(jobs.map(({ metadata }) => metadata.uid));
    for (const [uid, { name = '', namespace = '' }] of active) {
      if (jobUids.has(uid)) continue;
      const live = await this.context.client.find(this.parts.refs.jobs, namespace, name, true);
      if (live?.metadata.uid === uid) continue;
      active.delete(uid);
      this.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`);
    }
    return withActive({ ...oldStatus, ...(success != null && { lastSuccessfulTime: success }) }, [...active.values()]);
  }

  /** Starts the run that is due, where the policies allow it. */
  private async startDue(cronJob: CronJobObject): Promise<{ status: CronStatus; wait?: number }> {
    const { spec, metadata } = cronJob;
    const status = cronJob.status ?? {};
    if (metadata.deletionTimestamp !== undefined || spec?.suspend === true) return { status };
    const schedule = this.scheduleOf(cronJob);
    if (schedule === undefined) return { status };
    const { time, missed, wait } = dueRun(cronJob, schedule, this.context.clock.now());
    const later = wait === undefined ? {} : { wait };
    if (missed > MAX_MISSED)
      this.event(
        cronJob,
        'Warning',
        'TooManyMissedTimes',
        `too many missed start times: ${missed}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`,
      );
    if (time === undefined) {
      this.reportMissed(cronJob, schedule);
      return { status, ...later };
    }
    const name = jobNameOf(cronJob, time);
    const active = status.active ?? [];
    if (active.some((one) => one.name === name) || status.lastScheduleTime === formatTime(time)) return { status, ...later };
    if (spec?.concurrencyPolicy === 'Forbid' && active.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.event(cronJob, 'Normal', 'JobAlreadyActive', message);
      return { status, ...later };
    }
    if (spec?.concurrencyPolicy === 'Replace') for (const one of active) await this.removeActive(cronJob, one);
    const createdJob = await this.createJob(cronJob, time);
    if (createdJob === undefined) return { status, ...later };
    const remainingActive = spec?.concurrencyPolicy === 'Replace' ? [] : active;
    return {
      status: { ...withActive(status, [...remainingActive, referenceTo(createdJob)]), lastScheduleTime: formatTime(time) },
      ...later,
    };
  }

  private scheduleOf(cronJob: CronJobObject): Schedule | undefined {
    const { schedule = '', timeZone } = cronJob.spec ?? {};
    if (schedule.includes('TZ'))
      this.event(
        cronJob,
        'Warning',
        'UnsupportedSchedule',
        `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported, use spec.timeZone instead`,
      );
    try {
      return scheduleOf(cronJob, this.parts.settings.timeZones);
    } catch (error) {
      if (error instanceof RangeError)
        this.event(cronJob, 'Warning', 'UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: ${error.message}`);
      else this.event(cronJob, 'Warning', 'UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${messageOf(error)}`);
      return undefined;
    }
  }

  /** A run that is past its starting deadline is reported once: this is where it would have been started. */
  private reportMissed(cronJob: CronJobObject, schedule: Schedule): void {
    if (cronJob.spec?.startingDeadlineSeconds == null) return;
    const { startingDeadlineSeconds: _none, ...spec } = cronJob.spec;
    const { time } = dueRun({ ...cronJob, spec } as CronJobObject, schedule, this.context.clock.now());
    const { uid = '' } = cronJob.metadata;
    if (time === undefined || this.reported.get(uid) === time) return;
    this.reported.set(uid, time);
    const timeText = new Date(time).toUTCString().replace('GMT', '+0000');
    this.event(cronJob, 'Warning', 'MissSchedule', `Missed scheduled time to start a job: ${timeText}`);
  }

  private async createJob(cronJob: CronJobObject, time: number): Promise<Brief | undefined> {
    const { client } = this.context;
    const { jobs, refs } = this.parts;
    const { namespace = '', uid } = cronJob.metadata;
    const job = jobFrom(cronJob, time);
    try {
      const createdJob = await client.createBriefly(refs.jobs, namespace, job);
      this.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${createdJob.metadata.name}`);
      await jobs.whenArrived(createdJob);
      return createdJob;
    } catch (error) {
      if (isTerminating(error)) return undefined;
      if (isConflict(error)) {
        // Created before, and the status was not written.
        const live = await client.find<JobObject>(refs.jobs, namespace, job.metadata.name ?? '');
        if (live !== undefined && controllerOf(live)?.uid === uid) return live;
      }
      this.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
      throw error;
    }
  }

  private async removeActive(cronJob: CronJobObject, { namespace = '', name = '' }: ActiveJob): Promise<void> {
    const job = await this.context.client.find<JobObject>(this.parts.refs.jobs, namespace, name);
    if (job !== undefined) await this.remove(cronJob, job);
  }
  private async remove(cronJob: CronJobObject, job: JobObject): Promise<void> {
    const { namespace = '', name = '', uid = '' } = job.metadata;
    try {
      await this.context.client.delete(this.parts.refs.jobs, namespace, name, {
        preconditions: { uid },
        propagationPolicy: 'Background',
      });
      this.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      this.event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
      throw error;
    }
    await this.parts.jobs.gone(job);
  }

  private async write(cronJob: CronJobObject, status: CronStatus): Promise<void> {
    if (equal(status, cronJob.status ?? {})) return;
    const { apiVersion, kind } = aboutCronJob(cronJob);
    const updated = await this.context.client
      .updateBriefly(this.parts.refs.cronJobs, { ...cronJob, apiVersion, kind, status } as CronJobObject, 'status')
      .catch(unlessGone);
    if (updated !== undefined) await this.parts.cronJobs.whenArrived(updated);
  }
}

function withActive(status: CronStatus, active: readonly ActiveJob[]): CronStatus {
  const { active: _before, ...rest } = status;
  return active.length === 0 ? rest : { ...rest, active: [...active] };
}
