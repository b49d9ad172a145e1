/** Daemon sets. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { DaemonSet } from './schema/daemon-set.ts';

export const DaemonSetKind = kind<DaemonSet>({
  group: 'apps',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  short: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: DaemonSet } },
  hub: 'v1',
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'How many nodes should run a pod of the set.' },
    { name: 'Current', type: 'integer', description: 'How many nodes run a pod of the set.' },
    { name: 'Ready', type: 'integer', description: 'How many nodes run a pod of the set that is ready.' },
    { name: 'Up-to-date', type: 'integer', description: 'How many nodes run a pod of the newest template.' },
    { name: 'Available', type: 'integer', description: 'How many nodes run a pod of the set that has been ready long enough.' },
    { name: 'Node Selector', type: 'string', description: 'The labels of nodes that the set runs on.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
