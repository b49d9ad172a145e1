/** Replication controllers. */
import { scale } from '../autoscaling/scale.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { ReplicationController } from './schema/replication-controller.ts';

export const ReplicationControllerKind = kind<ReplicationController>({
  group: '',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  short: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: ReplicationController } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: { scale: scale((object) => ({ matchLabels: object.spec.selector ?? {} })), status: status() },
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
