/**
 * The built-in kinds as the typed client has them: `client.apps.v1.deployments('ns')`, with the names that requests need. A test compares
 * the table with the kinds of a server.
 *
 * Groups are named by the first word of their name (`rbac`, `flowcontrol`).
 */
import type { BuiltIn, Entry } from './built-in-types.ts';

const inNamespace = <T, S extends string = never>(kind: string, ...subresources: S[]): Entry<T, true, 'all', S> => ({
  kind,
  namespaced: true,
  verbs: 'all',
  subresources,
});
const ofCluster = <T, S extends string = never>(kind: string, ...subresources: S[]): Entry<T, false, 'all', S> => ({
  kind,
  namespaced: false,
  verbs: 'all',
  subresources,
});
const reviewIn = <T>(kind: string): Entry<T, true, 'create', never> => ({ kind, namespaced: true, verbs: 'create', subresources: [] });
const review = <T>(kind: string): Entry<T, false, 'create', never> => ({ kind, namespaced: false, verbs: 'create', subresources: [] });
const readOnlyEntry = <T>(kind: string): Entry<T, false, 'read', never> => ({ kind, namespaced: false, verbs: 'read', subresources: [] });

/** Base name of each group. */
export const groups = {
  core: '',
  admissionregistration: 'admissionregistration',
  apiextensions: 'apiextensions',
  apiregistration: 'apiregistration',
  apps: 'apps',
  authentication: 'authentication',
  authorization: 'authorization',
  autoscaling: 'autoscaling',
  batch: 'batch',
  certificates: 'certificates',
  coordination: 'coordination',
  discovery: 'discovery',
  events: 'events',
  flowcontrol: 'flowcontrol.apiserver',
  networking: 'networking',
  node: 'node',
  policy: 'policy',
  rbac: 'rbac.authorization',
  scheduling: 'scheduling',
  storage: 'storage',
} as const;

export const builtIn: BuiltIn = {
  core: {
    v1: {
      bindings: reviewIn('Binding'),
      componentstatuses: readOnlyEntry('ComponentStatus'),
      configmaps: inNamespace('ConfigMap'),
      endpoints: inNamespace('Endpoints'),
      events: inNamespace('Event'),
      limitranges: inNamespace('LimitRange'),
      namespaces: ofCluster('Namespace', 'finalize', 'status'),
      nodes: ofCluster('Node', 'status'),
      persistentvolumeclaims: inNamespace('PersistentVolumeClaim', 'status'),
      persistentvolumes: ofCluster('PersistentVolume', 'status'),
      pods: inNamespace('Pod', 'binding', 'ephemeralcontainers', 'eviction', 'log', 'status'),
      podtemplates: inNamespace('PodTemplate'),
      replicationcontrollers: inNamespace('ReplicationController', 'scale', 'status'),
      resourcequotas: inNamespace('ResourceQuota', 'status'),
      secrets: inNamespace('Secret'),
      serviceaccounts: inNamespace('ServiceAccount', 'token'),
      services: inNamespace('Service', 'status'),
    },
  },
  admissionregistration: {
    v1: {
      mutatingwebhookconfigurations: ofCluster('MutatingWebhookConfiguration'),
      validatingwebhookconfigurations: ofCluster('ValidatingWebhookConfiguration'),
    },
  },
  apiextensions: {
    v1: {
      customresourcedefinitions: ofCluster('CustomResourceDefinition', 'status'),
    },
  },
  apiregistration: {
    v1: {
      apiservices: ofCluster('APIService', 'status'),
    },
  },
  apps: {
    v1: {
      controllerrevisions: inNamespace('ControllerRevision'),
      daemonsets: inNamespace('DaemonSet', 'status'),
      deployments: inNamespace('Deployment', 'scale', 'status'),
      replicasets: inNamespace('ReplicaSet', 'scale', 'status'),
      statefulsets: inNamespace('StatefulSet', 'scale', 'status'),
    },
  },
  authentication: {
    v1: {
      tokenreviews: review('TokenReview'),
    },
  },
  authorization: {
    v1: {
      localsubjectaccessreviews: reviewIn('LocalSubjectAccessReview'),
      selfsubjectaccessreviews: review('SelfSubjectAccessReview'),
      selfsubjectrulesreviews: review('SelfSubjectRulesReview'),
      subjectaccessreviews: review('SubjectAccessReview'),
    },
  },
  autoscaling: {
    v1: {
      horizontalpodautoscalers: inNamespace('HorizontalPodAutoscaler', 'status'),
    },
    v2: {
      horizontalpodautoscalers: inNamespace('HorizontalPodAutoscaler', 'status'),
    },
    v2beta1: {
      horizontalpodautoscalers: inNamespace('HorizontalPodAutoscaler', 'status'),
    },
    v2beta2: {
      horizontalpodautoscalers: inNamespace('HorizontalPodAutoscaler', 'status'),
    },
  },
  batch: {
    v1: {
      cronjobs: inNamespace('CronJob', 'status'),
      jobs: inNamespace('Job', 'status'),
    },
    v1beta1: {
      cronjobs: inNamespace('CronJob', 'status'),
    },
  },
  certificates: {
    v1: {
      certificatesigningrequests: ofCluster('CertificateSigningRequest', 'approval', 'status'),
    },
  },
  coordination: {
    v1: {
      leases: inNamespace('Lease'),
    },
  },
  discovery: {
    v1: {
      endpointslices: inNamespace('EndpointSlice'),
    },
    v1beta1: {
      endpointslices: inNamespace('EndpointSlice'),
    },
  },
  events: {
    v1: {
      events: inNamespace('Event'),
    },
    v1beta1: {
      events: inNamespace('Event'),
    },
  },
  flowcontrol: {
    v1beta1: {
      flowschemas: ofCluster('FlowSchema', 'status'),
      prioritylevelconfigurations: ofCluster('PriorityLevelConfiguration', 'status'),
    },
    v1beta2: {
      flowschemas: ofCluster('FlowSchema', 'status'),
      prioritylevelconfigurations: ofCluster('PriorityLevelConfiguration', 'status'),
    },
  },
  networking: {
    v1: {
      ingressclasses: ofCluster('IngressClass'),
      ingresses: inNamespace('Ingress', 'status'),
      networkpolicies: inNamespace('NetworkPolicy', 'status'),
    },
  },
  node: {
    v1: {
      runtimeclasses: ofCluster('RuntimeClass'),
    },
    v1beta1: {
      runtimeclasses: ofCluster('RuntimeClass'),
    },
  },
  policy: {
    v1: {
      poddisruptionbudgets: inNamespace('PodDisruptionBudget', 'status'),
    },
    v1beta1: {
      poddisruptionbudgets: inNamespace('PodDisruptionBudget', 'status'),
      podsecuritypolicies: ofCluster('PodSecurityPolicy'),
    },
  },
  rbac: {
    v1: {
      clusterrolebindings: ofCluster('ClusterRoleBinding'),
      clusterroles: ofCluster('ClusterRole'),
      rolebindings: inNamespace('RoleBinding'),
      roles: inNamespace('Role'),
    },
  },
  scheduling: {
    v1: {
      priorityclasses: ofCluster('PriorityClass'),
    },
  },
  storage: {
    v1: {
      csidrivers: ofCluster('CSIDriver'),
      csinodes: ofCluster('CSINode'),
      csistoragecapacities: inNamespace('CSIStorageCapacity'),
      storageclasses: ofCluster('StorageClass'),
      volumeattachments: ofCluster('VolumeAttachment', 'status'),
    },
    v1beta1: {
      csistoragecapacities: inNamespace('CSIStorageCapacity'),
    },
  },
};
