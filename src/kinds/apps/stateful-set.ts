/** Stateful sets. */
import { scale } from '../autoscaling/scale.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { StatefulSet } from './schema/stateful-set.ts';

export const StatefulSetKind = kind<StatefulSet>({
  group: 'apps',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  short: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: StatefulSet } },
  hub: 'v1',
  subresources: { scale: scale((object) => object.spec.selector), status: status() },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'How many pods are ready, of those that there should be.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
  ],
});
