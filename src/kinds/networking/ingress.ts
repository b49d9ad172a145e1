/** Ingresses. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { Ingress } from './schema/ingress.ts';

export const IngressKind = kind<Ingress>({
  group: 'networking',
  kind: 'Ingress',
  plural: 'ingresses',
  short: ['ing'],
  scope: 'Namespaced',
  versions: { v1: { schema: Ingress } },
  hub: 'v1',
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Class', type: 'string', description: 'The class of the ingress.' },
    { name: 'Hosts', type: 'string', description: 'The host names that the ingress routes.' },
    { name: 'Address', type: 'string', description: 'The addresses by which the ingress is reached.' },
    { name: 'Ports', type: 'string', description: 'The ports on which the ingress listens.' },
    ageColumn,
  ],
});
