/** Ingresses. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { loadBalancerWarnings } from '../validation/load-balancer-status.ts';
import { ingressWarnings, validateIngress, validateIngressStatusUpdate, validateIngressUpdate } from './ingress-rules.ts';
import { Ingress } from './schema/ingress.ts';

/** How many host names a Table row shows. */
const SHOWN = 3;

/** `a.example.com,b.example.com,c.example.com + 2 more...`; an ingress for every host shows a star. */
function hostsCell(rules: NonNullable<Ingress['spec']['rules']>): string {
  const hosts: string[] = [];
  for (const [i, { host = '' }] of rules.entries()) {
    if (host !== '') hosts.push(host);
    if (hosts.length === SHOWN && i < rules.length - 1) return `${hosts.join(',')} + ${rules.length - SHOWN} more...`;
  }
  return hosts.length === 0 ? '*' : hosts.join(',');
}

function addressCell(ingress: Ingress): string {
  const points = (ingress.status.loadBalancer.ingress ?? []).map(({ ip = '', hostname = '' }) => (ip === '' ? hostname : ip));
  return [...new Set(points.filter((point) => point !== ''))].sort().join(',');
}

export const IngressKind = kind<Ingress>({
  group: 'networking',
  kind: 'Ingress',
  plural: 'ingresses',
  short: ['ing'],
  scope: 'Namespaced',
  versions: { v1: { schema: Ingress } },
  hub: 'v1',
  generation: true,
  strategy: {
    prepareForCreate: (ingress) => {
      ingress.status = { loadBalancer: {} };
    },
    prepareForUpdate: (ingress, old) => {
      ingress.status = old.status;
    },
    validate: validateIngress,
    validateUpdate: validateIngressUpdate,
    warnings: ingressWarnings,
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate: (ingress, old) => {
        ingress.spec = old.spec;
      },
      validateUpdate: validateIngressStatusUpdate,
      warnings: ({ status: { loadBalancer } }, _old, env) => loadBalancerWarnings(loadBalancer, env),
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Class', type: 'string', description: 'The class of the ingress.' },
    { name: 'Hosts', type: 'string', description: 'The host names that the ingress routes.' },
    { name: 'Address', type: 'string', description: 'The addresses by which the ingress is reached.' },
    { name: 'Ports', type: 'string', description: 'The ports on which the ingress listens.' },
    ageColumn,
  ],
  cells: (ingress, env) => [
    nameCell(ingress),
    ingress.spec.ingressClassName ?? '<none>',
    hostsCell(ingress.spec.rules ?? []),
    addressCell(ingress),
    (ingress.spec.tls ?? []).length > 0 ? '80, 443' : '80',
    ageCell(ingress, env),
  ],
});
