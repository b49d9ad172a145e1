/** Jobs and cron jobs. */
import type { CronJob, Job } from '@plat-dev/kinds/batch/schema/v1';
import { humanDuration } from '@plat-dev/meta/age';
import { timeMillis } from '@plat-dev/meta/time';
import type { Describer } from './describer.ts';
import { writePodTemplate } from './pod-template.ts';
import { controllerOf, longTime, orNone, orUnset, selectorText, yesNo } from './values.ts';

/** Longer lists of indexes end after the index that crosses this length. */
const MAX_INDEXES = 50;

export const describeJob: Describer<Job> = {
  async write(page, { metadata, spec = {}, status = {} }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace).field('Selector', selectorText(spec.selector));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.fieldIfSet('Controlled By', controllerOf(metadata)).fieldIfSet('Parallelism', spec.parallelism);
    page.field('Completions', orUnset(spec.completions)).fieldIfSet('Completion Mode', spec.completionMode);
    const { startTime, completionTime, ready } = status;
    if (startTime !== undefined) page.field('Start Time', longTime(startTime));
    if (completionTime !== undefined) page.field('Completed At', longTime(completionTime));
    if (startTime !== undefined && completionTime !== undefined)
      page.field('Duration', humanDuration(timeMillis(completionTime) - timeMillis(startTime)));
    if (spec.activeDeadlineSeconds !== undefined) page.field('Active Deadline Seconds', `${spec.activeDeadlineSeconds}s`);
    const active = `${status.active ?? 0} Active${ready === undefined ? '' : ` (${ready} Ready)`}`;
    page.field('Pods Statuses', `${active} / ${status.succeeded ?? 0} Succeeded / ${status.failed ?? 0} Failed`);
    if (spec.completionMode === 'Indexed') page.field('Completed Indexes', orNone(shortened(status.completedIndexes)));
    writePodTemplate(page, spec.template ?? {});
  },
};
function shortened(indexes = ''): string {
  const comma = indexes.indexOf(',', MAX_INDEXES);
  return comma === -1 ? indexes : `${indexes.slice(0, comma + 1)}...`;
}

export const describeCronJob: Describer<CronJob> = {
  versions: ['v1', 'v1beta1'],
  async write(page, { metadata, spec = {}, status = {} }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Schedule', spec.schedule).field('Concurrency Policy', spec.concurrencyPolicy);
    page.field('Suspend', spec.suspend === undefined ? '<unset>' : yesNo(spec.suspend));
    page.field('Successful Job History Limit', orUnset(spec.successfulJobsHistoryLimit));
    page.field('Failed Job History Limit', orUnset(spec.failedJobsHistoryLimit));
    page.field('Starting Deadline Seconds', spec.startingDeadlineSeconds === undefined ? '<unset>' : `${spec.startingDeadlineSeconds}s`);
    const job = spec.jobTemplate?.spec ?? {};
    page.field('Selector', job.selector === undefined ? '<unset>' : selectorText(job.selector));
    page.field('Parallelism', orUnset(job.parallelism)).field('Completions', orUnset(job.completions));
    if (job.activeDeadlineSeconds !== undefined) page.field('Active Deadline Seconds', `${job.activeDeadlineSeconds}s`);
    writePodTemplate(page, job.template ?? {});
    page.field('Last Schedule Time', status.lastScheduleTime === undefined ? '<unset>' : longTime(status.lastScheduleTime));
    page.field('Active Jobs', orNone((status.active ?? []).map(({ name }) => name).join(', ')));
  },
};
