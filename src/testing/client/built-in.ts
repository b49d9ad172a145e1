/**
 * The built-in kinds as the typed client has them: `client.apps.v1.deployments('ns')`. Types are those of the schemas; the
 * rest is what a request needs. A test holds the table against the kinds that a server has.
 *
 * Groups go by the first word of their name (`rbac`, `flowcontrol`).
 */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../../kinds/admissionregistration/schema/v1.ts';
import type { CustomResourceDefinition } from '../../kinds/apiextensions/schema/v1.ts';
import type { APIService } from '../../kinds/apiregistration/schema/v1.ts';
import type { ControllerRevision } from '../../kinds/apps/schema/controller-revision.ts';
import type { DaemonSet } from '../../kinds/apps/schema/daemon-set.ts';
import type { Deployment } from '../../kinds/apps/schema/deployment.ts';
import type { ReplicaSet } from '../../kinds/apps/schema/replica-set.ts';
import type { StatefulSet } from '../../kinds/apps/schema/stateful-set.ts';
import type { TokenReview } from '../../kinds/authentication/schema/v1.ts';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../../kinds/authorization/schema/v1.ts';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from '../../kinds/autoscaling/schema/v1.ts';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2 } from '../../kinds/autoscaling/schema/v2.ts';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2beta1 } from '../../kinds/autoscaling/schema/v2beta1.ts';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2beta2 } from '../../kinds/autoscaling/schema/v2beta2.ts';
import type { CronJob as CronJobV1, Job } from '../../kinds/batch/schema/v1.ts';
import type { CronJob as CronJobV1beta1 } from '../../kinds/batch/schema/v1beta1.ts';
import type { CertificateSigningRequest } from '../../kinds/certificates/schema/v1.ts';
import type { Lease } from '../../kinds/coordination/schema/v1.ts';
import type { Binding, ComponentStatus } from '../../kinds/core/schema/cluster.ts';
import type { ConfigMap, Secret, ServiceAccount } from '../../kinds/core/schema/config.ts';
import type { Event } from '../../kinds/core/schema/events.ts';
import type { Namespace } from '../../kinds/core/schema/namespace.ts';
import type { Node } from '../../kinds/core/schema/node.ts';
import type { PersistentVolumeClaim } from '../../kinds/core/schema/persistent-volume-claims.ts';
import type { PersistentVolume } from '../../kinds/core/schema/persistent-volumes.ts';
import type { Pod, PodTemplate } from '../../kinds/core/schema/pod.ts';
import type { LimitRange, ResourceQuota } from '../../kinds/core/schema/quota.ts';
import type { ReplicationController } from '../../kinds/core/schema/replication-controller.ts';
import type { Endpoints, Service } from '../../kinds/core/schema/service.ts';
import type { EndpointSlice as EndpointSliceV1 } from '../../kinds/discovery/schema/v1.ts';
import type { EndpointSlice as EndpointSliceV1beta1 } from '../../kinds/discovery/schema/v1beta1.ts';
import type { Event as EventsEventV1 } from '../../kinds/events/schema/v1.ts';
import type { Event as EventsEventV1Beta1 } from '../../kinds/events/schema/v1beta1.ts';
import type {
  FlowSchema as FlowSchemaV1beta1,
  PriorityLevelConfiguration as PriorityLevelConfigurationV1beta1,
} from '../../kinds/flowcontrol/schema/v1beta1.ts';
import type {
  FlowSchema as FlowSchemaV1beta2,
  PriorityLevelConfiguration as PriorityLevelConfigurationV1beta2,
} from '../../kinds/flowcontrol/schema/v1beta2.ts';
import type { Ingress, IngressClass } from '../../kinds/networking/schema/ingress.ts';
import type { NetworkPolicy } from '../../kinds/networking/schema/network-policy.ts';
import type { RuntimeClass as RuntimeClassV1 } from '../../kinds/node/schema/v1.ts';
import type { RuntimeClass as RuntimeClassV1beta1 } from '../../kinds/node/schema/v1beta1.ts';
import type { PodSecurityPolicy } from '../../kinds/policy/schema/pod-security-policy.ts';
import type { PodDisruptionBudget as PodDisruptionBudgetV1 } from '../../kinds/policy/schema/v1.ts';
import type { PodDisruptionBudget as PodDisruptionBudgetV1beta1 } from '../../kinds/policy/schema/v1beta1.ts';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/rbac/schema/v1.ts';
import type { PriorityClass } from '../../kinds/scheduling/schema/v1.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity as CSIStorageCapacityV1,
  StorageClass,
  VolumeAttachment,
} from '../../kinds/storage/schema/v1.ts';
import type { CSIStorageCapacity as CSIStorageCapacityV1beta1 } from '../../kinds/storage/schema/v1beta1.ts';

/** Which methods a kind has: all of them, or those that its objects, which nobody stores, can answer. */
export type Verbs = 'all' | 'create' | 'read';

/** `T`: its objects; `S`: subresources that the client has methods for. */
export interface Entry<T, Namespaced extends boolean, V extends Verbs, S extends string> {
  readonly kind: string;
  readonly namespaced: Namespaced;
  readonly verbs: V;
  readonly subresources: readonly S[];
  /** Never there: it carries the type. */
  readonly objects?: T;
}

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
const shown = <T>(kind: string): Entry<T, false, 'read', never> => ({ kind, namespaced: false, verbs: 'read', subresources: [] });

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

export const builtIn = {
  core: {
    v1: {
      bindings: reviewIn<Binding>('Binding'),
      componentstatuses: shown<ComponentStatus>('ComponentStatus'),
      configmaps: inNamespace<ConfigMap>('ConfigMap'),
      endpoints: inNamespace<Endpoints>('Endpoints'),
      events: inNamespace<Event>('Event'),
      limitranges: inNamespace<LimitRange>('LimitRange'),
      namespaces: ofCluster<Namespace, 'finalize' | 'status'>('Namespace', 'finalize', 'status'),
      nodes: ofCluster<Node, 'status'>('Node', 'status'),
      persistentvolumeclaims: inNamespace<PersistentVolumeClaim, 'status'>('PersistentVolumeClaim', 'status'),
      persistentvolumes: ofCluster<PersistentVolume, 'status'>('PersistentVolume', 'status'),
      pods: inNamespace<Pod, 'binding' | 'ephemeralcontainers' | 'eviction' | 'log' | 'status'>(
        'Pod',
        'binding',
        'ephemeralcontainers',
        'eviction',
        'log',
        'status',
      ),
      podtemplates: inNamespace<PodTemplate>('PodTemplate'),
      replicationcontrollers: inNamespace<ReplicationController, 'scale' | 'status'>('ReplicationController', 'scale', 'status'),
      resourcequotas: inNamespace<ResourceQuota, 'status'>('ResourceQuota', 'status'),
      secrets: inNamespace<Secret>('Secret'),
      serviceaccounts: inNamespace<ServiceAccount, 'token'>('ServiceAccount', 'token'),
      services: inNamespace<Service, 'status'>('Service', 'status'),
    },
  },
  admissionregistration: {
    v1: {
      mutatingwebhookconfigurations: ofCluster<MutatingWebhookConfiguration>('MutatingWebhookConfiguration'),
      validatingwebhookconfigurations: ofCluster<ValidatingWebhookConfiguration>('ValidatingWebhookConfiguration'),
    },
  },
  apiextensions: {
    v1: {
      customresourcedefinitions: ofCluster<CustomResourceDefinition, 'status'>('CustomResourceDefinition', 'status'),
    },
  },
  apiregistration: {
    v1: {
      apiservices: ofCluster<APIService, 'status'>('APIService', 'status'),
    },
  },
  apps: {
    v1: {
      controllerrevisions: inNamespace<ControllerRevision>('ControllerRevision'),
      daemonsets: inNamespace<DaemonSet, 'status'>('DaemonSet', 'status'),
      deployments: inNamespace<Deployment, 'scale' | 'status'>('Deployment', 'scale', 'status'),
      replicasets: inNamespace<ReplicaSet, 'scale' | 'status'>('ReplicaSet', 'scale', 'status'),
      statefulsets: inNamespace<StatefulSet, 'scale' | 'status'>('StatefulSet', 'scale', 'status'),
    },
  },
  authentication: {
    v1: {
      tokenreviews: review<TokenReview>('TokenReview'),
    },
  },
  authorization: {
    v1: {
      localsubjectaccessreviews: reviewIn<LocalSubjectAccessReview>('LocalSubjectAccessReview'),
      selfsubjectaccessreviews: review<SelfSubjectAccessReview>('SelfSubjectAccessReview'),
      selfsubjectrulesreviews: review<SelfSubjectRulesReview>('SelfSubjectRulesReview'),
      subjectaccessreviews: review<SubjectAccessReview>('SubjectAccessReview'),
    },
  },
  autoscaling: {
    v1: {
      horizontalpodautoscalers: inNamespace<HorizontalPodAutoscalerV1, 'status'>('HorizontalPodAutoscaler', 'status'),
    },
    v2: {
      horizontalpodautoscalers: inNamespace<HorizontalPodAutoscalerV2, 'status'>('HorizontalPodAutoscaler', 'status'),
    },
    v2beta1: {
      horizontalpodautoscalers: inNamespace<HorizontalPodAutoscalerV2beta1, 'status'>('HorizontalPodAutoscaler', 'status'),
    },
    v2beta2: {
      horizontalpodautoscalers: inNamespace<HorizontalPodAutoscalerV2beta2, 'status'>('HorizontalPodAutoscaler', 'status'),
    },
  },
  batch: {
    v1: {
      cronjobs: inNamespace<CronJobV1, 'status'>('CronJob', 'status'),
      jobs: inNamespace<Job, 'status'>('Job', 'status'),
    },
    v1beta1: {
      cronjobs: inNamespace<CronJobV1beta1, 'status'>('CronJob', 'status'),
    },
  },
  certificates: {
    v1: {
      certificatesigningrequests: ofCluster<CertificateSigningRequest, 'approval' | 'status'>(
        'CertificateSigningRequest',
        'approval',
        'status',
      ),
    },
  },
  coordination: {
    v1: {
      leases: inNamespace<Lease>('Lease'),
    },
  },
  discovery: {
    v1: {
      endpointslices: inNamespace<EndpointSliceV1>('EndpointSlice'),
    },
    v1beta1: {
      endpointslices: inNamespace<EndpointSliceV1beta1>('EndpointSlice'),
    },
  },
  events: {
    v1: {
      events: inNamespace<EventsEventV1>('Event'),
    },
    v1beta1: {
      events: inNamespace<EventsEventV1Beta1>('Event'),
    },
  },
  flowcontrol: {
    v1beta1: {
      flowschemas: ofCluster<FlowSchemaV1beta1, 'status'>('FlowSchema', 'status'),
      prioritylevelconfigurations: ofCluster<PriorityLevelConfigurationV1beta1, 'status'>('PriorityLevelConfiguration', 'status'),
    },
    v1beta2: {
      flowschemas: ofCluster<FlowSchemaV1beta2, 'status'>('FlowSchema', 'status'),
      prioritylevelconfigurations: ofCluster<PriorityLevelConfigurationV1beta2, 'status'>('PriorityLevelConfiguration', 'status'),
    },
  },
  networking: {
    v1: {
      ingressclasses: ofCluster<IngressClass>('IngressClass'),
      ingresses: inNamespace<Ingress, 'status'>('Ingress', 'status'),
      networkpolicies: inNamespace<NetworkPolicy, 'status'>('NetworkPolicy', 'status'),
    },
  },
  node: {
    v1: {
      runtimeclasses: ofCluster<RuntimeClassV1>('RuntimeClass'),
    },
    v1beta1: {
      runtimeclasses: ofCluster<RuntimeClassV1beta1>('RuntimeClass'),
    },
  },
  policy: {
    v1: {
      poddisruptionbudgets: inNamespace<PodDisruptionBudgetV1, 'status'>('PodDisruptionBudget', 'status'),
    },
    v1beta1: {
      poddisruptionbudgets: inNamespace<PodDisruptionBudgetV1beta1, 'status'>('PodDisruptionBudget', 'status'),
      podsecuritypolicies: ofCluster<PodSecurityPolicy>('PodSecurityPolicy'),
    },
  },
  rbac: {
    v1: {
      clusterrolebindings: ofCluster<ClusterRoleBinding>('ClusterRoleBinding'),
      clusterroles: ofCluster<ClusterRole>('ClusterRole'),
      rolebindings: inNamespace<RoleBinding>('RoleBinding'),
      roles: inNamespace<Role>('Role'),
    },
  },
  scheduling: {
    v1: {
      priorityclasses: ofCluster<PriorityClass>('PriorityClass'),
    },
  },
  storage: {
    v1: {
      csidrivers: ofCluster<CSIDriver>('CSIDriver'),
      csinodes: ofCluster<CSINode>('CSINode'),
      csistoragecapacities: inNamespace<CSIStorageCapacityV1>('CSIStorageCapacity'),
      storageclasses: ofCluster<StorageClass>('StorageClass'),
      volumeattachments: ofCluster<VolumeAttachment, 'status'>('VolumeAttachment', 'status'),
    },
    v1beta1: {
      csistoragecapacities: inNamespace<CSIStorageCapacityV1beta1>('CSIStorageCapacity'),
    },
  },
};
