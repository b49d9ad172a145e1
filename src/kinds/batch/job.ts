/** Jobs. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { Job } from './schema/v1.ts';

export const JobKind = kind<Job>({
  group: 'batch',
  kind: 'Job',
  plural: 'jobs',
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Job } },
  hub: 'v1',
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Completions', type: 'string', description: 'How many pods have succeeded, of those that have to.' },
    { name: 'Duration', type: 'string', description: 'How long the job ran, or has been running.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
