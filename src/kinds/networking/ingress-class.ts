/** Ingress classes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { IngressClass } from './schema/ingress.ts';

export const IngressClassKind = kind<IngressClass>({
  group: 'networking',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  versions: { v1: { schema: IngressClass } },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The controller that serves ingresses of the class.' },
    { name: 'Parameters', type: 'string', description: 'The object that holds further settings of the class.' },
    ageColumn,
  ],
});
