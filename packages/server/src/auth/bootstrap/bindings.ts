/** Bootstrap bindings, and the roles within the system namespaces. */
import type { Identity } from '@plat-dev/meta/identity';
import { wellKnown } from '../types.ts';
import { events } from './notation.ts';

/** `Group:name`, `User:name`, or `ServiceAccount:name` of the system namespace, and which releases have it, as with rules. */
export type SubjectText = string;

const controllerManager = 'system:kube-controller-manager';
const scheduler = 'system:kube-scheduler';

/** The role with which everybody may ask why. */
export const explanationRole = 'system:explanation-user';

/** Cluster roles by name, and the subjects of the binding of the same name. `explains`: whether the kinds of `explain` are served. */
export const clusterRoleHolders = (explains: boolean): Readonly<Record<string, readonly SubjectText[]>> => ({
  'cluster-admin': [`Group:${wellKnown.masters}`],
  'system:basic-user': [`Group:${wellKnown.authenticated}`],
  'system:discovery': [`Group:${wellKnown.authenticated}`],
  'system:kube-controller-manager': [`User:${controllerManager}`],
  'system:kube-dns': ['ServiceAccount:kube-dns'],
  'system:kube-scheduler': [`User:${scheduler}`],
  'system:monitoring': ['Group:system:monitoring'],
  // Nodes are authorized by the node authorizer; subjects can be added to this binding.
  'system:node': [],
  'system:node-proxier': ['User:system:kube-proxy'],
  'system:public-info-viewer': [`Group:${wellKnown.authenticated}`, `Group:${wellKnown.unauthenticated}`],
  'system:service-account-issuer-discovery': [`Group:${wellKnown.serviceAccounts}`],
  'system:volume-scheduler': [`User:${scheduler}`],
  ...(explains && { [explanationRole]: [`Group:${wellKnown.authenticated}`] }),
});

export interface NamespacedRole {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly string[];
  /** Name of the binding if it is not that of the role. */
  readonly binding?: string;
  readonly holders: readonly SubjectText[];
}

const leaderLock = (namespace: string, component: string, ...moreHolders: SubjectText[]): NamespacedRole => ({
  namespace,
  name: `system::leader-locking-${component}`,
  rules: [
    'watch core configmaps until=1.34',
    `get,update core configmaps ${component} until=1.34`,
    'create,read,update coordination leasecandidates,leases since=1.31',
  ],
  holders: [`User:system:${component}`, `ServiceAccount:${component}`, ...moreHolders],
});

export function namespacedRoles(identity: Identity): readonly NamespacedRole[] {
  const { system, public: publicNamespace } = identity.namespaces;
  const reader = 'extension-apiserver-authentication';
  return [
    {
      namespace: publicNamespace,
      name: 'system:controller:bootstrap-signer',
      rules: ['read core configmaps', 'update core configmaps cluster-info', events],
      holders: ['ServiceAccount:bootstrap-signer'],
    },
    {
      namespace: system,
      name: `${reader}-reader`,
      rules: [`read core configmaps ${reader}`],
      binding: `system::${reader}-reader`,
      holders: [`User:${controllerManager}`, `User:${scheduler}`],
    },
    leaderLock(system, 'kube-controller-manager', 'ServiceAccount:leader-election-controller since=1.31'),
    leaderLock(system, 'kube-scheduler'),
    {
      namespace: system,
      name: 'system:controller:bootstrap-signer',
      rules: ['read core secrets'],
      holders: ['ServiceAccount:bootstrap-signer'],
    },
    {
      namespace: system,
      name: 'system:controller:cloud-provider',
      rules: ['create,read core configmaps'],
      holders: ['ServiceAccount:cloud-provider'],
    },
    {
      namespace: system,
      name: 'system:controller:token-cleaner',
      rules: ['delete,read core secrets', events],
      holders: ['ServiceAccount:token-cleaner'],
    },
  ];
}
