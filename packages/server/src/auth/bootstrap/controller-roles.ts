/** Roles of controllers: `x` is the role `system:controller:x`, bound to the service account `x` of the system namespace. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import { events } from './notation.ts';

const roles: Readonly<Record<string, readonly string[]>> = {
  'attachdetach-controller': [
    'list,watch core persistentvolumeclaims,persistentvolumes',
    'read core nodes',
    'patch,update core nodes/status',
    'list,watch core pods',
    events,
    'create,delete,read storage volumeattachments',
    'read storage csidrivers',
  ],
  'clusterrole-aggregation-controller': ['escalate,patch,update,read rbac.authorization clusterroles'],
  'cronjob-controller': [
    'update,read batch cronjobs',
    'create,delete,patch,update,read batch jobs',
    'update batch cronjobs/status',
    'update batch cronjobs/finalizers',
    'delete,list core pods',
    events,
  ],
  'daemon-set-controller': [
    'read apps,extensions daemonsets',
    'update apps,extensions daemonsets/status',
    'update apps,extensions daemonsets/finalizers',
    'list,watch core nodes',
    'create,delete,list,patch,watch core pods',
    'create core pods/binding',
    'create,delete,patch,update,read apps controllerrevisions',
    events,
  ],
  'deployment-controller': [
    'update,read apps,extensions deployments',
    'update apps,extensions deployments/status',
    'update apps,extensions deployments/finalizers',
    'create,delete,patch,update,read apps,extensions replicasets',
    'update,read core pods',
    events,
  ],
  'disruption-controller': [
    'read apps,extensions deployments',
    'read apps,extensions replicasets',
    'read core replicationcontrollers',
    'read policy poddisruptionbudgets',
    'read apps statefulsets',
    'update policy poddisruptionbudgets/status',
    'get * */scale',
    events,
  ],
  'endpoint-controller': [
    'read core pods,services',
    'create,delete,get,list,update core endpoints',
    'create core endpoints/restricted',
    events,
  ],
  'endpointslice-controller': [
    'read core nodes,pods,services',
    'update core services/finalizers',
    'create,delete,get,list,update discovery endpointslices',
    events,
  ],
  'endpointslicemirroring-controller': [
    'read core endpoints,services',
    'update core services/finalizers',
    'update core endpoints/finalizers',
    'create,delete,get,list,update discovery endpointslices',
    events,
  ],
  'ephemeral-volume-controller': ['read core pods', 'update core pods/finalizers', 'create,read core persistentvolumeclaims', events],
  'expand-controller': [
    'patch,update,read core persistentvolumes',
    'patch,update core persistentvolumeclaims/status',
    'read core persistentvolumeclaims',
    'read storage storageclasses',
    'get core endpoints,services',
    'get core secrets',
    events,
  ],
  'generic-garbage-collector': ['delete,patch,update,read * *', events],
  'horizontal-pod-autoscaler': [
    'read autoscaling horizontalpodautoscalers',
    'update autoscaling horizontalpodautoscalers/status',
    'get,update * */scale',
    'list core pods',
    'get core services/proxy http:heapster:,https:heapster:',
    'list metrics pods',
    'get,list custom.metrics *',
    'get,list external.metrics *',
    events,
  ],
  'job-controller': [
    'patch,update,read batch jobs',
    'update batch jobs/status',
    'update batch jobs/finalizers',
    'create,delete,list,patch,watch core pods',
    events,
  ],
  'namespace-controller': [
    'delete,read core namespaces',
    'update core namespaces/finalize,namespaces/status',
    'delete,deletecollection,get,list * *',
  ],
  'node-controller': [
    'delete,get,list,patch,update core nodes',
    'patch,update core nodes/status',
    'update core pods/status',
    'delete,list core pods',
    events,
  ],
  'persistent-volume-binder': [
    'create,delete,update,read core persistentvolumes',
    'update core persistentvolumes/status',
    'update,read core persistentvolumeclaims',
    'update core persistentvolumeclaims/status',
    'create,delete,read core pods',
    'read storage storageclasses',
    'create,delete,get,update core endpoints',
    'create,delete,get core services',
    'get core secrets',
    'get,list core nodes',
    'watch core events',
    events,
  ],
  'pod-garbage-collector': ['delete,list,watch core pods', 'get,list core nodes'],
  'pv-protection-controller': ['update,read core persistentvolumes', events],
  'pvc-protection-controller': ['update,read core persistentvolumeclaims', 'read core pods', events],
  'replicaset-controller': [
    'update,read apps,extensions replicasets',
    'update apps,extensions replicasets/status',
    'update apps,extensions replicasets/finalizers',
    'create,delete,list,patch,watch core pods',
    events,
  ],
  'replication-controller': [
    'update,read core replicationcontrollers',
    'update core replicationcontrollers/status',
    'update core replicationcontrollers/finalizers',
    'create,delete,list,patch,watch core pods',
    events,
  ],
  'resourcequota-controller': ['list,watch * *', 'update core resourcequotas/status', events],
  'root-ca-cert-publisher': ['create,update core configmaps', events],
  'route-controller': ['list,watch core nodes', 'patch core nodes/status', events],
  'service-account-controller': ['create core serviceaccounts', events],
  'service-controller': ['read core services', 'patch,update core services/status', 'list,watch core nodes', events],
  'statefulset-controller': [
    'list,watch core pods',
    'read apps statefulsets',
    'update apps statefulsets/status',
    'update apps statefulsets/finalizers',
    'create,delete,get,patch,update core pods',
    'create,delete,patch,update,read apps controllerrevisions',
    'create,get core persistentvolumeclaims',
    events,
  ],
  'ttl-after-finished-controller': ['delete,read batch jobs', events],
  'ttl-controller': ['list,patch,update,watch core nodes', events],
};

function certificateController(identity: Identity): readonly string[] {
  const { apiserverClient, apiserverClientNodeagent, nodeagentServing, legacyUnknown } = identity.signers;
  const all = [apiserverClient, apiserverClientNodeagent, nodeagentServing, legacyUnknown].join(',');
  return [
    'delete,read certificates certificatesigningrequests',
    'update certificates certificatesigningrequests/approval,certificatesigningrequests/status',
    `approve certificates signers ${apiserverClientNodeagent}`,
    `sign certificates signers ${all}`,
    'create authorization subjectaccessreviews',
    events,
  ];
}

/** Rules that a controller needs for a feature: gate, role, rule. */
const gatedRules: readonly (readonly [string, string, string])[] = [
  ['CSIMigration', 'attachdetach-controller', 'read storage csinodes'],
  ['StatefulSetAutoDeletePVC', 'statefulset-controller', 'update core persistentvolumeclaims'],
  ...rulesFor('MultiCIDRServiceAllocator', 'service-cidrs-controller', [
    'patch,update,read networking servicecidrs',
    'patch,update networking servicecidrs/finalizers',
    'patch,update networking servicecidrs/status',
    'read networking ipaddresses',
    events,
  ]),
  ...rulesFor('VolumeAttributesClass', 'volumeattributesclass-protection-controller', [
    'read core persistentvolumeclaims',
    'read core persistentvolumes',
    'update,read storage volumeattributesclasses',
    events,
  ]),
];

/** The whole role of a controller that a feature has. */
function rulesFor(gate: string, role: string, rules: readonly string[]): (readonly [string, string, string])[] {
  return rules.map((rule) => [gate, role, rule]);
}

/** The role of a controller that runs only where servers say in which versions they store objects. */
const storageVersionRole: Record<string, readonly string[]> = {
  'storage-version-garbage-collector': [
    'read coordination leases',
    'delete,patch,update,read internal.apiserver storageversions',
    'get,patch,update internal.apiserver storageversions/status',
  ],
};

/** `feature` says whether a feature gate is on. */
export function controllerRoles(identity: Identity, feature: (gate: string) => boolean): Record<string, readonly string[]> {
  const all: Record<string, readonly string[]> = { ...roles, 'certificate-controller': certificateController(identity) };
  for (const [gate, role, rule] of gatedRules) if (feature(gate)) setOwn(all, role, [...(own(all, role) ?? []), rule]);
  return feature('StorageVersionAPI') && feature('APIServerIdentity') ? { ...all, ...storageVersionRole } : all;
}
