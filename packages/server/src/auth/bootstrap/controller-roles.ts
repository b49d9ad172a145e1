/** Roles of controllers: `x` is the role `system:controller:x`, bound to the service account `x` of the system namespace. */
import { setOwn } from '@plat-dev/lib/own';
import { type Identity, tokenTrackingConfigMap } from '@plat-dev/meta/identity';
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
    'read storage csinodes gate=CSIMigration',
  ],
  'clusterrole-aggregation-controller': ['escalate,patch,update,read rbac.authorization clusterroles'],
  'cronjob-controller': [
    'update,read batch cronjobs',
    'create,delete,patch,update,read batch jobs',
    'update batch cronjobs/status',
    'update batch cronjobs/finalizers',
    'delete,list core pods until=1.31',
    'delete,list,watch core pods since=1.32',
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
    'patch,update core pods/status gate=PodDisruptionConditions',
    'get * */scale',
    events,
  ],
  'endpoint-controller': [
    'read core pods,services',
    'create,delete,get,list,update core endpoints until=1.31',
    'create,delete,update,read core endpoints since=1.32',
    'create core endpoints/restricted',
    events,
  ],
  'endpointslice-controller': [
    'read core nodes,pods,services',
    'update core services/finalizers',
    'create,delete,get,list,update discovery endpointslices until=1.31',
    'create,delete,update,read discovery endpointslices since=1.32',
    events,
  ],
  'endpointslicemirroring-controller': [
    'read core endpoints,services',
    'update core services/finalizers',
    'update core endpoints/finalizers',
    'create,delete,get,list,update discovery endpointslices until=1.31',
    'create,delete,update,read discovery endpointslices since=1.32',
    events,
  ],
  'ephemeral-volume-controller': ['read core pods', 'update core pods/finalizers', 'create,read core persistentvolumeclaims', events],
  'expand-controller': [
    'patch,update,read core persistentvolumes',
    'patch,update core persistentvolumeclaims/status',
    'read core persistentvolumeclaims',
    'read storage storageclasses until=1.31',
    'get core endpoints,services until=1.31',
    'get core services since=1.32 until=1.35',
    'get core secrets until=1.31',
    events,
  ],
  'generic-garbage-collector': ['delete,patch,update,read * *', events],
  'horizontal-pod-autoscaler': [
    'read autoscaling horizontalpodautoscalers',
    'update autoscaling horizontalpodautoscalers/status',
    'get,update * */scale',
    'list core pods until=1.31',
    'list,watch core pods since=1.32',
    'get core services/proxy http:heapster:,https:heapster: until=1.26',
    'list metrics pods until=1.31',
    'list,watch metrics pods since=1.32',
    'get,list custom.metrics * until=1.31',
    'read custom.metrics * since=1.32',
    'get,list external.metrics * until=1.31',
    'read external.metrics * since=1.32',
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
    'delete,deletecollection,get,list * * until=1.31',
    'delete,deletecollection,read * * since=1.32',
  ],
  'node-controller': [
    'delete,get,list,patch,update core nodes until=1.31',
    'delete,patch,update,read core nodes since=1.32',
    'patch,update core nodes/status',
    'update core pods/status',
    'patch core pods/status gate=PodDisruptionConditions',
    'delete,list core pods until=1.31',
    'delete,list,watch core pods since=1.32',
    'get core pods gate=PodDisruptionConditions',
    'create,get,list,update networking clustercidrs since=1.25 until=1.29',
    events,
  ],
  'persistent-volume-binder': [
    'create,delete,update,read core persistentvolumes',
    'update core persistentvolumes/status',
    'update,read core persistentvolumeclaims',
    'update core persistentvolumeclaims/status',
    'create,delete,read core pods',
    'read storage storageclasses',
    'create,delete,get,update core endpoints until=1.31',
    'create,delete,get core services until=1.31',
    'get core services since=1.32 until=1.35',
    'get core secrets until=1.31',
    'get,list core nodes until=1.31',
    'list,watch core nodes since=1.32',
    'watch core events',
    events,
  ],
  'pod-garbage-collector': [
    'delete,list,watch core pods',
    'get,list core nodes until=1.31',
    'read core nodes since=1.32',
    'patch core pods/status gate=PodDisruptionConditions',
  ],
  'pv-protection-controller': ['update,read core persistentvolumes', events],
  'pvc-protection-controller': [
    'update,read core persistentvolumeclaims',
    'update core persistentvolumeclaims/status since=1.36',
    'read core pods',
    events,
  ],
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
    'create,get core persistentvolumeclaims until=1.27',
    'create,read core persistentvolumeclaims since=1.28',
    'update core persistentvolumeclaims gate=StatefulSetAutoDeletePVC until=1.26',
    'delete,update core persistentvolumeclaims gate=StatefulSetAutoDeletePVC since=1.27',
    'update core pods/finalizers since=1.28',
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

/** Controllers that exist for a feature, with all that they need. */
const rolesOfFeatures = (identity: Identity): readonly (readonly [gate: string, role: string, rules: readonly string[]])[] => [
  [
    'MultiCIDRServiceAllocator',
    'service-cidrs-controller',
    [
      'patch,update,read networking servicecidrs',
      'patch,update networking servicecidrs/finalizers',
      'patch,update networking servicecidrs/status',
      'read networking ipaddresses',
      events,
    ],
  ],
  [
    'VolumeAttributesClass',
    'volumeattributesclass-protection-controller',
    ['read core persistentvolumeclaims', 'read core persistentvolumes', 'update,read storage volumeattributesclasses', events],
  ],
  [
    'LegacyServiceAccountTokenCleanUp',
    'legacy-service-account-token-cleaner',
    [`get core configmaps ${tokenTrackingConfigMap(identity)}`, 'delete,patch core secrets'],
  ],
  [
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicy-status-controller',
    [
      'read admissionregistration validatingadmissionpolicies',
      'get,patch,update admissionregistration validatingadmissionpolicies/status',
      events,
    ],
  ],
  [
    'SELinuxChangePolicy',
    'selinux-warning-controller',
    [events, 'read core persistentvolumes', 'read core persistentvolumeclaims', 'read core pods', 'read storage csidrivers'],
  ],
  [
    'DynamicResourceAllocation',
    'resource-claim-controller',
    [
      'read core pods',
      'update core pods/finalizers',
      'create,delete,read resource resourceclaims',
      'patch,update resource resourceclaims,resourceclaims/status',
      'patch,update resource resourceclaims/binding gate=DRAResourceClaimGranularStatusAuthorization',
      'patch,update core pods/status',
      events,
    ],
  ],
  [
    'DRADeviceTaints',
    'device-taint-eviction-controller',
    [
      'delete,read core pods',
      'patch,update core pods/status',
      'read resource resourceclaims',
      'read resource resourceslices',
      'read resource deviceclasses',
      'read resource devicetaintrules gate=DRADeviceTaintRules',
      events,
    ],
  ],
];

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
  for (const [gate, role, rules] of rolesOfFeatures(identity)) if (feature(gate)) setOwn(all, role, rules);
  return feature('StorageVersionAPI') && feature('APIServerIdentity') ? { ...all, ...storageVersionRole } : all;
}
