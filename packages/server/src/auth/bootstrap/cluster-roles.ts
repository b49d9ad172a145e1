/** Bootstrap cluster roles: for users, nodes, components and what they request of each other. */
import { own } from '@plat-dev/lib/own';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { explanationRole } from './bindings.ts';
import { chosen, events, type ReleaseChoice } from './notation.ts';

const roles: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['* * *', '* paths *'],
  'system:aggregate-to-admin': ['create authorization localsubjectaccessreviews', 'write,read rbac.authorization rolebindings,roles'],
  'system:aggregate-to-edit': [
    'read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
    'impersonate core serviceaccounts',
    'write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
    'create core pods/eviction',
    'write core configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy until=1.34',
    'write core configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy since=1.35',
    'write core,events events since=1.35',
    'create core serviceaccounts/token',
    'write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
    'write autoscaling horizontalpodautoscalers',
    'write batch cronjobs,jobs',
    'write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
    'write policy poddisruptionbudgets',
    'write networking ingresses,networkpolicies',
    'write,read coordination leases',
    'write resource resourceclaims,resourceclaimtemplates gate=DynamicResourceAllocation',
  ],
  'system:aggregate-to-view': [
    'read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
    'read core bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status until=1.34',
    'read core bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status since=1.35',
    'read core namespaces',
    'read core,events events since=1.35',
    'read discovery endpointslices',
    'read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status',
    'read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status',
    'read batch cronjobs,cronjobs/status,jobs,jobs/status',
    'read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale',
    'read policy poddisruptionbudgets,poddisruptionbudgets/status',
    'read networking ingresses,ingresses/status,networkpolicies',
    'read resource resourceclaims,resourceclaims/status,resourceclaimtemplates gate=DynamicResourceAllocation',
  ],
  'system:auth-delegator': ['create authentication tokenreviews', 'create authorization subjectaccessreviews'],
  'system:basic-user': [
    'create authorization selfsubjectaccessreviews,selfsubjectrulesreviews',
    'create authentication selfsubjectreviews gate=APISelfSubjectReview since=1.27',
  ],
  'system:discovery': ['get paths /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/'],
  'system:heapster': ['read core events,namespaces,nodes,pods', 'read extensions deployments'],
  'system:kube-aggregator': ['read core endpoints,services'],
  'system:kube-controller-manager': [
    events,
    'create coordination leases',
    'get,update coordination leases kube-controller-manager',
    'create core endpoints until=1.27',
    'get,update core endpoints kube-controller-manager until=1.27',
    'create core secrets,serviceaccounts',
    'delete core secrets',
    'get core configmaps,namespaces,secrets,serviceaccounts',
    'update core secrets,serviceaccounts',
    'create authentication tokenreviews',
    'create authorization subjectaccessreviews',
    'list,watch * *',
    'create core serviceaccounts/token',
  ],
  'system:kube-dns': ['list,watch core endpoints,services'],
  'system:kube-scheduler': [
    events,
    'create coordination leases',
    'get,update coordination leases kube-scheduler',
    'list,watch coordination leases kube-scheduler since=1.31',
    'write,read coordination leasecandidates since=1.31',
    'create core endpoints until=1.27',
    'get,update core endpoints kube-scheduler until=1.27',
    'read core nodes',
    'delete,read core pods',
    'create core bindings,pods/binding',
    'patch,update core pods/status',
    'read core replicationcontrollers,services',
    'read apps,extensions replicasets',
    'read apps statefulsets',
    'read policy poddisruptionbudgets',
    'read core persistentvolumeclaims,persistentvolumes',
    'create authentication tokenreviews',
    'create authorization subjectaccessreviews',
    'read storage csinodes',
    'read core namespaces',
    'read storage csidrivers',
    'read storage csistoragecapacities',
    'read storage volumeattachments since=1.32',
    'read,patch,update resource resourceclaims,resourceclaims/status gate=DynamicResourceAllocation',
    'read resource deviceclasses,resourceslices gate=DynamicResourceAllocation',
    'update core pods/finalizers gate=DynamicResourceAllocation',
    'create,delete resource resourceclaims gate=DRAExtendedResource since=1.36',
    'patch,update resource resourceclaims/binding gate=DRAResourceClaimGranularStatusAuthorization',
  ],
  'system:kubelet-api-admin': [
    'read core nodes',
    'proxy core nodes',
    '* core nodes/log,nodes/metrics,nodes/proxy,nodes/spec,nodes/stats until=1.26',
    '* core nodes/log,nodes/metrics,nodes/proxy,nodes/stats since=1.27',
    '* core nodes/configz,nodes/healthz,nodes/pods gate=KubeletFineGrainedAuthz',
  ],
  'system:monitoring': [
    'get paths /healthz,/healthz/*,/livez,/livez/*,/metrics,/readyz,/readyz/* until=1.25',
    'get paths /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* since=1.26 until=1.35',
    'get paths /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz since=1.36',
    'get core nodes/metrics since=1.34',
  ],
  'system:node': [
    'create authentication tokenreviews',
    'create authorization localsubjectaccessreviews,subjectaccessreviews',
    'read core services',
    'create,read core nodes',
    'patch,update core nodes/status',
    'patch,update core nodes',
    'create,patch,update core events until=1.34',
    'create,patch,update core,events events since=1.35',
    'read core pods',
    'create,delete core pods',
    'patch,update core pods/status',
    'create core pods/eviction',
    'read core configmaps,secrets',
    'get core persistentvolumeclaims,persistentvolumes',
    'get core endpoints',
    'create,read certificates certificatesigningrequests',
    'create,delete,get,patch,update coordination leases',
    'get storage volumeattachments',
    'create core serviceaccounts/token',
    'get,patch,update core persistentvolumeclaims/status',
    'read storage csidrivers',
    'create,delete,get,patch,update storage csinodes',
    'read node runtimeclasses',
    'get resource resourceclaims gate=DynamicResourceAllocation',
    'deletecollection resource resourceslices gate=DynamicResourceAllocation',
    'get core serviceaccounts since=1.34',
  ],
  'system:node-bootstrapper': ['create,read certificates certificatesigningrequests'],
  'system:node-problem-detector': ['get core nodes', 'patch core nodes/status', events],
  'system:node-proxier': [
    'list,watch core endpoints,services',
    'read core nodes',
    events,
    'list,watch discovery endpointslices',
    'list,watch networking servicecidrs gate=MultiCIDRServiceAllocator',
  ],
  'system:persistent-volume-provisioner': [
    'create,delete,read core persistentvolumes',
    'update,read core persistentvolumeclaims',
    'read storage storageclasses',
    'watch core events',
    events,
  ],
  'system:public-info-viewer': ['get paths /healthz,/livez,/readyz,/version,/version/'],
  'system:service-account-issuer-discovery': [
    'get paths /.well-known/openid-configuration,/openid/v1/jwks until=1.27',
    'get paths /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/ since=1.28',
  ],
  'system:volume-scheduler': [
    'patch,update,read core persistentvolumes',
    'read storage storageclasses',
    'patch,update,read core persistentvolumeclaims',
  ],
};

/** Rules of the role of nodes, which the node authorizer narrows to what a node needs. */
export const nodeRules = (choice: ReleaseChoice): readonly string[] => chosen(choice, roles['system:node'] ?? []);

/** The last part of a signer's name, which names its approver role. */
const pathOf = (signer: string): string => signer.slice(signer.indexOf('/') + 1);

/** Roles for certificate requests, whose names and limits contain names of the identity. */
function certificateRoles(identity: Identity): Record<string, readonly string[]> {
  const prefix = `system:${groupName(identity, 'certificates')}:`;
  const requests = 'certificatesigningrequests';
  const rolesByName: Record<string, readonly string[]> = {
    [`${prefix}${requests}:nodeclient`]: [`create certificates ${requests}/nodeclient`],
    [`${prefix}${requests}:selfnodeclient`]: [`create certificates ${requests}/selfnodeclient`],
  };
  for (const signer of Object.values(identity.signers)) {
    rolesByName[`${prefix}${pathOf(signer)}-approver`] = [`approve certificates signers ${signer}`];
  }
  return rolesByName;
}

/** Who may change an object may see what it was before: `read core pods,pods/log` → `history core pods`. */
const historyOf = (...names: string[]): string[] =>
  names
    .flatMap((name) => own(roles, name) ?? [])
    .filter((line) => /^(write,)?read /.test(line))
    .flatMap((line) => {
      const [, group = '', resources = ''] = line.split(' ');
      const objects = resources.split(',').filter((resource) => !resource.includes('/'));
      return objects.length === 0 ? [] : [`history ${group} ${objects.join()}`];
    });

/** What a stock server does not have. */
const ownRoles = (): Record<string, readonly string[]> => ({
  [explanationRole]: [
    'create explain accessexplanations,deletionexplanations,pendingexplanations,readinessexplanations',
    'create explain refusalsearches,slowrequestsearches,subjectsearches',
  ],
  'system:aggregate-history-to-admin': historyOf('system:aggregate-to-admin'),
  'system:aggregate-history-to-edit': historyOf('system:aggregate-to-edit', 'system:aggregate-to-view'),
});

/** `explains`: whether the kinds of `explain`, and history with them, are served. */
export const clusterRoles = (identity: Identity, explains: boolean): Record<string, readonly string[]> => ({
  ...roles,
  ...certificateRoles(identity),
  ...(explains && ownRoles()),
});
