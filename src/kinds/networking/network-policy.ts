/** Network policies. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { NetworkPolicy } from './schema/network-policy.ts';

export const NetworkPolicyKind = kind<NetworkPolicy>({
  group: 'networking',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  short: ['netpol'],
  scope: 'Namespaced',
  versions: { v1: { schema: NetworkPolicy } },
  hub: 'v1',
  subresources: { status: status() },
  columns: [nameColumn, { name: 'Pod-Selector', type: 'string', description: 'The labels of pods that the policy applies to.' }, ageColumn],
});
