/**
 * The built-in kinds as the typed client has them, with the types of their schemas. Named interfaces keep the
 * declarations of the package short.
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
import type { Pod, PodTemplate } from '../../kinds/core/schema/pods/pod.ts';
import type { LimitRange, ResourceQuota } from '../../kinds/core/schema/quota.ts';
import type { ReplicationController } from '../../kinds/core/schema/replication-controller.ts';
import type { Endpoints, Service } from '../../kinds/core/schema/service.ts';
import type { PersistentVolumeClaim } from '../../kinds/core/schema/volumes/persistent-volume-claims.ts';
import type { PersistentVolume } from '../../kinds/core/schema/volumes/persistent-volumes.ts';
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

/** The methods of a kind: all of them, or the few of kinds whose objects are not stored. */
type Verbs = 'all' | 'create' | 'read';

/** `T`: its objects; `S`: subresources that the client has methods for. */
export interface Entry<T, Namespaced extends boolean, V extends Verbs, S extends string> {
  readonly kind: string;
  readonly namespaced: Namespaced;
  readonly verbs: V;
  readonly subresources: readonly S[];
  /** Never set: it carries the type. */
  readonly objects?: T;
}

export interface BuiltIn {
  readonly core: {
    readonly v1: {
      readonly bindings: Entry<Binding, true, 'create', never>;
      readonly componentstatuses: Entry<ComponentStatus, false, 'read', never>;
      readonly configmaps: Entry<ConfigMap, true, 'all', never>;
      readonly endpoints: Entry<Endpoints, true, 'all', never>;
      readonly events: Entry<Event, true, 'all', never>;
      readonly limitranges: Entry<LimitRange, true, 'all', never>;
      readonly namespaces: Entry<Namespace, false, 'all', 'finalize' | 'status'>;
      readonly nodes: Entry<Node, false, 'all', 'status'>;
      readonly persistentvolumeclaims: Entry<PersistentVolumeClaim, true, 'all', 'status'>;
      readonly persistentvolumes: Entry<PersistentVolume, false, 'all', 'status'>;
      readonly pods: Entry<Pod, true, 'all', 'binding' | 'ephemeralcontainers' | 'eviction' | 'log' | 'status'>;
      readonly podtemplates: Entry<PodTemplate, true, 'all', never>;
      readonly replicationcontrollers: Entry<ReplicationController, true, 'all', 'scale' | 'status'>;
      readonly resourcequotas: Entry<ResourceQuota, true, 'all', 'status'>;
      readonly secrets: Entry<Secret, true, 'all', never>;
      readonly serviceaccounts: Entry<ServiceAccount, true, 'all', 'token'>;
      readonly services: Entry<Service, true, 'all', 'status'>;
    };
  };
  readonly admissionregistration: {
    readonly v1: {
      readonly mutatingwebhookconfigurations: Entry<MutatingWebhookConfiguration, false, 'all', never>;
      readonly validatingwebhookconfigurations: Entry<ValidatingWebhookConfiguration, false, 'all', never>;
    };
  };
  readonly apiextensions: {
    readonly v1: {
      readonly customresourcedefinitions: Entry<CustomResourceDefinition, false, 'all', 'status'>;
    };
  };
  readonly apiregistration: {
    readonly v1: {
      readonly apiservices: Entry<APIService, false, 'all', 'status'>;
    };
  };
  readonly apps: {
    readonly v1: {
      readonly controllerrevisions: Entry<ControllerRevision, true, 'all', never>;
      readonly daemonsets: Entry<DaemonSet, true, 'all', 'status'>;
      readonly deployments: Entry<Deployment, true, 'all', 'scale' | 'status'>;
      readonly replicasets: Entry<ReplicaSet, true, 'all', 'scale' | 'status'>;
      readonly statefulsets: Entry<StatefulSet, true, 'all', 'scale' | 'status'>;
    };
  };
  readonly authentication: {
    readonly v1: {
      readonly tokenreviews: Entry<TokenReview, false, 'create', never>;
    };
  };
  readonly authorization: {
    readonly v1: {
      readonly localsubjectaccessreviews: Entry<LocalSubjectAccessReview, true, 'create', never>;
      readonly selfsubjectaccessreviews: Entry<SelfSubjectAccessReview, false, 'create', never>;
      readonly selfsubjectrulesreviews: Entry<SelfSubjectRulesReview, false, 'create', never>;
      readonly subjectaccessreviews: Entry<SubjectAccessReview, false, 'create', never>;
    };
  };
  readonly autoscaling: {
    readonly v1: {
      readonly horizontalpodautoscalers: Entry<HorizontalPodAutoscalerV1, true, 'all', 'status'>;
    };
    readonly v2: {
      readonly horizontalpodautoscalers: Entry<HorizontalPodAutoscalerV2, true, 'all', 'status'>;
    };
    readonly v2beta1: {
      readonly horizontalpodautoscalers: Entry<HorizontalPodAutoscalerV2beta1, true, 'all', 'status'>;
    };
    readonly v2beta2: {
      readonly horizontalpodautoscalers: Entry<HorizontalPodAutoscalerV2beta2, true, 'all', 'status'>;
    };
  };
  readonly batch: {
    readonly v1: {
      readonly cronjobs: Entry<CronJobV1, true, 'all', 'status'>;
      readonly jobs: Entry<Job, true, 'all', 'status'>;
    };
    readonly v1beta1: {
      readonly cronjobs: Entry<CronJobV1beta1, true, 'all', 'status'>;
    };
  };
  readonly certificates: {
    readonly v1: {
      readonly certificatesigningrequests: Entry<CertificateSigningRequest, false, 'all', 'approval' | 'status'>;
    };
  };
  readonly coordination: {
    readonly v1: {
      readonly leases: Entry<Lease, true, 'all', never>;
    };
  };
  readonly discovery: {
    readonly v1: {
      readonly endpointslices: Entry<EndpointSliceV1, true, 'all', never>;
    };
    readonly v1beta1: {
      readonly endpointslices: Entry<EndpointSliceV1beta1, true, 'all', never>;
    };
  };
  readonly events: {
    readonly v1: {
      readonly events: Entry<EventsEventV1, true, 'all', never>;
    };
    readonly v1beta1: {
      readonly events: Entry<EventsEventV1Beta1, true, 'all', never>;
    };
  };
  readonly flowcontrol: {
    readonly v1beta1: {
      readonly flowschemas: Entry<FlowSchemaV1beta1, false, 'all', 'status'>;
      readonly prioritylevelconfigurations: Entry<PriorityLevelConfigurationV1beta1, false, 'all', 'status'>;
    };
    readonly v1beta2: {
      readonly flowschemas: Entry<FlowSchemaV1beta2, false, 'all', 'status'>;
      readonly prioritylevelconfigurations: Entry<PriorityLevelConfigurationV1beta2, false, 'all', 'status'>;
    };
  };
  readonly networking: {
    readonly v1: {
      readonly ingressclasses: Entry<IngressClass, false, 'all', never>;
      readonly ingresses: Entry<Ingress, true, 'all', 'status'>;
      readonly networkpolicies: Entry<NetworkPolicy, true, 'all', 'status'>;
    };
  };
  readonly node: {
    readonly v1: {
      readonly runtimeclasses: Entry<RuntimeClassV1, false, 'all', never>;
    };
    readonly v1beta1: {
      readonly runtimeclasses: Entry<RuntimeClassV1beta1, false, 'all', never>;
    };
  };
  readonly policy: {
    readonly v1: {
      readonly poddisruptionbudgets: Entry<PodDisruptionBudgetV1, true, 'all', 'status'>;
    };
    readonly v1beta1: {
      readonly poddisruptionbudgets: Entry<PodDisruptionBudgetV1beta1, true, 'all', 'status'>;
      readonly podsecuritypolicies: Entry<PodSecurityPolicy, false, 'all', never>;
    };
  };
  readonly rbac: {
    readonly v1: {
      readonly clusterrolebindings: Entry<ClusterRoleBinding, false, 'all', never>;
      readonly clusterroles: Entry<ClusterRole, false, 'all', never>;
      readonly rolebindings: Entry<RoleBinding, true, 'all', never>;
      readonly roles: Entry<Role, true, 'all', never>;
    };
  };
  readonly scheduling: {
    readonly v1: {
      readonly priorityclasses: Entry<PriorityClass, false, 'all', never>;
    };
  };
  readonly storage: {
    readonly v1: {
      readonly csidrivers: Entry<CSIDriver, false, 'all', never>;
      readonly csinodes: Entry<CSINode, false, 'all', never>;
      readonly csistoragecapacities: Entry<CSIStorageCapacityV1, true, 'all', never>;
      readonly storageclasses: Entry<StorageClass, false, 'all', never>;
      readonly volumeattachments: Entry<VolumeAttachment, false, 'all', 'status'>;
    };
    readonly v1beta1: {
      readonly csistoragecapacities: Entry<CSIStorageCapacityV1beta1, true, 'all', never>;
    };
  };
}
