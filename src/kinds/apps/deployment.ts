/** Deployments. */
import { scale } from '../autoscaling/scale.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { Deployment } from './schema/deployment.ts';

export const DeploymentKind = kind<Deployment>({
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  short: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Deployment } },
  hub: 'v1',
  subresources: { scale: scale((object) => object.spec.selector), status: status() },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'How many pods are ready, of those that there should be.' },
    { name: 'Up-to-date', type: 'string', description: 'How many pods are of the newest template.' },
    { name: 'Available', type: 'string', description: 'How many pods have been ready long enough.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
