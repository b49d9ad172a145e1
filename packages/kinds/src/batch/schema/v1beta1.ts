/** Cron jobs as version 1beta1 shows them. */
import { always, type Infer, object } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const JobTemplateSpec = inVersion(v1.JobTemplateSpec, 'batch.v1beta1', [v1.JobSpec]);

export const JobTemplate = object('batch.v1beta1.JobTemplate', {
  metadata: always(1, ObjectMeta),
  template: always(2, JobTemplateSpec),
});
export type JobTemplate = Infer<typeof JobTemplate>;

export const CronJob = inVersion(v1.CronJob, 'batch.v1beta1', [v1.JobSpec]);
export type CronJob = Infer<typeof CronJob>;
