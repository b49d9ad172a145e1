/** Services. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { proxy, status } from '../subresources.ts';
import { Service } from './schema/service.ts';

export const ServiceKind = kind<Service>({
  group: '',
  kind: 'Service',
  plural: 'services',
  short: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Service } },
  hub: 'v1',
  createOnUpdate: true,
  deleteReturnsObject: true,
  subresources: { proxy: proxy('ServiceProxyOptions'), status: status() },
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'How the service is reached.' },
    { name: 'Cluster-IP', type: 'string', description: 'The address of the service inside the cluster.' },
    { name: 'External-IP', type: 'string', description: 'Addresses by which the service is reached from outside.' },
    { name: 'Port(s)', type: 'string', description: 'The ports of the service, with node ports where it has them.' },
    ageColumn,
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
});
