/** Replica sets. */
import { scale } from '../autoscaling/scale.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { ReplicaSet } from './schema/replica-set.ts';

export const ReplicaSetKind = kind<ReplicaSet>({
  group: 'apps',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  short: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: ReplicaSet } },
  hub: 'v1',
  subresources: { scale: scale((object) => object.spec.selector), status: status() },
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'How many pods there should be.' },
    { name: 'Current', type: 'integer', description: 'How many pods there are.' },
    { name: 'Ready', type: 'integer', description: 'How many pods are ready.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
