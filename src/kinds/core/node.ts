/** Nodes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { proxy, status } from '../subresources.ts';
import { Node } from './schema/node.ts';

export const NodeKind = kind<Node>({
  group: '',
  kind: 'Node',
  plural: 'nodes',
  short: ['no'],
  scope: 'Cluster',
  versions: { v1: { schema: Node } },
  hub: 'v1',
  subresources: { proxy: proxy('NodeProxyOptions'), status: status() },
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether the node is ready, and whether pods may be placed on it.' },
    { name: 'Roles', type: 'string', description: 'The roles that the labels of the node give it.' },
    ageColumn,
    { name: 'Version', type: 'string', description: 'The version of the agent on the node.' },
    { name: 'Internal-IP', type: 'string', priority: 1, description: 'The address of the node inside the cluster.' },
    { name: 'External-IP', type: 'string', priority: 1, description: 'The address of the node seen from outside.' },
    { name: 'OS-Image', type: 'string', priority: 1, description: 'The operating system that the node reports.' },
    { name: 'Kernel-Version', type: 'string', priority: 1, description: 'The kernel that the node reports.' },
    { name: 'Container-Runtime', type: 'string', priority: 1, description: 'The container runtime and version that the node reports.' },
  ],
});
