/** Cron jobs. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const CronJobKind = kind<v1.CronJob>({
  group: 'batch',
  kind: 'CronJob',
  plural: 'cronjobs',
  short: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.CronJob },
    v1beta1: {
      schema: v1beta1.CronJob,
      deprecation: { deprecated: '1.21', removed: '1.25', replacement: { group: 'batch', version: 'v1', kind: 'CronJob' } },
    },
  },
  hub: 'v1',
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Schedule', type: 'string', description: 'When jobs are started, in the form of a cron line.' },
    { name: 'Suspend', type: 'boolean', description: 'Whether new jobs are held back.' },
    { name: 'Active', type: 'integer', description: 'How many jobs are running.' },
    { name: 'Last Schedule', type: 'string', description: 'How long ago a job was last started.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
