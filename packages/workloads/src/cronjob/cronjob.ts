/** What a cron job asks for, and the jobs that it has. */
import type { Brief } from '@plat-dev/client/dynamic';
import type { CronJob, CronJobStatus } from '@plat-dev/kinds/batch/schema/v1';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { timeMillis } from '@plat-dev/meta/time';
import { isComplete, isFinishedJob, type JobObject } from '../job/job.ts';
import type { About } from '../shared/events.ts';
import { controllerRef } from '../shared/pod-control.ts';
import { lastTime, parseSchedule, type Schedule } from './schedule.ts';

/** A cron job as received. It is shared: nobody may change it. */
export type CronJobObject = Wire<CronJob>;
export type CronStatus = Part<CronJobStatus>;
export type ActiveJob = NonNullable<CronStatus['active']>[number];

/** More missed runs than this are reported. */
export const MAX_MISSED = 100;

export const aboutCronJob = (cronJob: CronJobObject): About => ({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: cronJob.metadata });

/** Throws where the schedule or the zone cannot be used. */
export function scheduleOf({ spec }: CronJobObject, timeZones: boolean): Schedule {
  const zone = timeZones ? (spec?.timeZone ?? undefined) : undefined;
  return parseSchedule(spec?.schedule ?? '', zone);
}

/** From when on runs are due: the last one, or the creation. */
const startOf = ({ metadata, status }: CronJobObject): number =>
  timeMillis(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');

export interface Due {
  /** The run that is due, the last of those that were missed. */
  readonly time?: number;
  readonly missed: number;
  /** Milliseconds until the next one. */
  readonly wait?: number;
}

/** The run of a cron job that is due now. */
export function dueRun(cronJob: CronJobObject, schedule: Schedule, now: number): Due {
  const start = startOf(cronJob);
  const seconds = cronJob.spec?.startingDeadlineSeconds;
  // Runs before the deadline, in whole seconds, are not started any more.
  const from = seconds == null ? start : Math.max(start, Math.floor(now / 1000 - Number(seconds)) * 1000 - 1);
  const lastRun = from > now ? { missed: 0 } : lastTime(schedule, from, now, MAX_MISSED);
  const next = schedule.next(lastRun.time ?? Math.max(start, lastBefore(schedule, start, now)));
  return { ...lastRun, ...(next !== undefined && { wait: Math.max(next - now, 1) }) };
}
/** The last run up to now, whether it may still start or not; intervals are counted from it. */
const lastBefore = (schedule: Schedule, start: number, now: number): number =>
  start > now ? start : (lastTime(schedule, start, now, 0).time ?? start);

export const jobNameOf = ({ metadata }: CronJobObject, time: number): string => `${metadata.name ?? ''}-${Math.floor(time / 60_000)}`;

/** The job of a run. */
export function jobFrom(cronJob: CronJobObject, time: number): JobObject {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobNameOf(cronJob, time),
      namespace: cronJob.metadata.namespace ?? '',
      ...(metadata?.labels !== undefined && { labels: { ...metadata.labels } }),
      ...(metadata?.annotations !== undefined && { annotations: { ...metadata.annotations } }),
      ownerReferences: [controllerRef(aboutCronJob(cronJob))],
    },
    spec,
  } as JobObject;
}

export const referenceTo = ({ metadata }: Brief): ActiveJob =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
  }) as ActiveJob;

/** Finished jobs beyond the history limits, those that started first. */
export function jobsBeyondHistory({ spec }: CronJobObject, jobs: readonly JobObject[]): JobObject[] {
  const finished = jobs.filter(isFinishedJob);
  return [
    ...beyond(finished.filter(isComplete), spec?.successfulJobsHistoryLimit),
    ...beyond(
      finished.filter((job) => !isComplete(job)),
      spec?.failedJobsHistoryLimit,
    ),
  ];
}
function beyond(jobs: readonly JobObject[], limit: number | null | undefined): JobObject[] {
  if (limit == null || jobs.length <= limit) return [];
  const started = ({ status }: JobObject): number => (status?.startTime == null ? Number.MAX_SAFE_INTEGER : timeMillis(status.startTime));
  const order = (a: JobObject, b: JobObject): number =>
    started(a) - started(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
  return [...jobs].sort(order).slice(0, jobs.length - limit);
}
