/** The status of components of the cluster; nothing is stored. */
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ComponentStatus } from './schema/cluster.ts';

export const ComponentStatusKind = kind<ComponentStatus>({
  group: '',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  short: ['cs'],
  scope: 'Cluster',
  verbs: ['get', 'list'],
  virtual: true,
  versions: { v1: { schema: ComponentStatus } },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether the component answered that it is well.' },
    { name: 'Message', type: 'string', description: 'The message of the component.' },
    { name: 'Error', type: 'string', description: 'The error of the check of the component.' },
  ],
  cells: ({ metadata, conditions }) => {
    const health = conditions?.find(({ type }) => type === 'Healthy');
    const state = health === undefined ? 'Unknown' : health.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name ?? '', state, health?.message ?? '', health?.error ?? ''];
  },
});
