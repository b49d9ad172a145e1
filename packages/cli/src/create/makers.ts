/** Kinds that `plat create` makes from flags. */
import { accessMakers } from './access.ts';
import { configMapMaker } from './data.ts';
import { type Maker, maker } from './maker.ts';
import { networkMakers } from './network.ts';
import { policyMakers } from './policies.ts';
import { secretMakers } from './secrets.ts';
import { workloadMakers } from './workloads.ts';

const plainMakers: readonly Maker[] = [
  maker({
    path: 'namespace',
    aliases: ['ns'],
    summary: 'Create a namespace.',
    examples: ['plat create namespace team-a', 'plat create ns team-a --dry-run=server', 'plat create ns team-a --dry-run=client -o yaml'],
    kind: 'Namespace',
    plural: 'namespaces',
    namespaced: false,
    flags: {},
    make: () => ({}),
  }),
  maker({
    path: 'serviceaccount',
    aliases: ['sa'],
    summary: 'Create a service account.',
    examples: ['plat create serviceaccount robot', 'plat create sa robot -n team-a', 'plat create sa robot --dry-run=client -o yaml'],
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    flags: {},
    make: () => ({}),
  }),
];

export const makers: readonly Maker[] = [
  ...accessMakers,
  configMapMaker,
  ...networkMakers,
  ...plainMakers,
  ...policyMakers,
  ...secretMakers,
  ...workloadMakers,
].sort((a, b) => (a.path < b.path ? -1 : 1));
