/** batch/v2alpha1. */
import type { OlderVersions } from '../older.ts';
import { inVersion } from '../versions.ts';
import { CronJobKind } from './cron-job.ts';
import * as v1 from './schema/v1.ts';

export const olderBatch: readonly OlderVersions[] = [
  {
    group: 'batch',
    plural: 'cronjobs',
    orphansByDefault: ['v1beta1', 'v2alpha1'],
    versions: {
      v2alpha1: {
        ...CronJobKind.versions.v1beta1,
        schema: inVersion(v1.CronJob, 'batch.v2alpha1', [v1.JobSpec]),
      },
    },
  },
];
