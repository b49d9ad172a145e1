/**
 * The built-in kinds as the typed client has them, with the types of their schemas. Named interfaces keep the
 * declarations of the package short.
 */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@plat-dev/kinds/admissionregistration/schema/v1';
import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { ControllerRevision } from '@plat-dev/kinds/apps/schema/controller-revision';
import type { DaemonSet } from '@plat-dev/kinds/apps/schema/daemon-set';
import type { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import type { ReplicaSet } from '@plat-dev/kinds/apps/schema/replica-set';
import type { StatefulSet } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { TokenReview } from '@plat-dev/kinds/authentication/schema/v1';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '@plat-dev/kinds/authorization/schema/v1';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from '@plat-dev/kinds/autoscaling/schema/v1';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2 } from '@plat-dev/kinds/autoscaling/schema/v2';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2beta1 } from '@plat-dev/kinds/autoscaling/schema/v2beta1';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV2beta2 } from '@plat-dev/kinds/autoscaling/schema/v2beta2';
import type { CronJob as CronJobV1, Job } from '@plat-dev/kinds/batch/schema/v1';
import type { CronJob as CronJobV1beta1 } from '@plat-dev/kinds/batch/schema/v1beta1';
import type { CertificateSigningRequest } from '@plat-dev/kinds/certificates/schema/v1';
import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { Binding, ComponentStatus } from '@plat-dev/kinds/core/schema/cluster';
import type { ConfigMap, Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { Event } from '@plat-dev/kinds/core/schema/events';
import type { Namespace } from '@plat-dev/kinds/core/schema/namespace';
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Pod, PodTemplate } from '@plat-dev/kinds/core/schema/pods/pod';
import type { LimitRange, ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import type { ReplicationController } from '@plat-dev/kinds/core/schema/replication-controller';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { EndpointSlice as EndpointSliceV1 } from '@plat-dev/kinds/discovery/schema/v1';
import type { EndpointSlice as EndpointSliceV1beta1 } from '@plat-dev/kinds/discovery/schema/v1beta1';
import type { Event as EventsEventV1 } from '@plat-dev/kinds/events/schema/v1';
import type { Event as EventsEventV1Beta1 } from '@plat-dev/kinds/events/schema/v1beta1';
import type {
  FlowSchema as FlowSchemaV1beta1,
  PriorityLevelConfiguration as PriorityLevelConfigurationV1beta1,
} from '@plat-dev/kinds/flowcontrol/schema/v1beta1';
import type {
  FlowSchema as FlowSchemaV1beta2,
  PriorityLevelConfiguration as PriorityLevelConfigurationV1beta2,
} from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import type { Ingress, IngressClass } from '@plat-dev/kinds/networking/schema/ingress';
import type { NetworkPolicy } from '@plat-dev/kinds/networking/schema/network-policy';
import type { RuntimeClass as RuntimeClassV1 } from '@plat-dev/kinds/node/schema/v1';
import type { RuntimeClass as RuntimeClassV1beta1 } from '@plat-dev/kinds/node/schema/v1beta1';
import type { PodSecurityPolicy } from '@plat-dev/kinds/policy/schema/pod-security-policy';
import type { PodDisruptionBudget as PodDisruptionBudgetV1 } from '@plat-dev/kinds/policy/schema/v1';
import type { PodDisruptionBudget as PodDisruptionBudgetV1beta1 } from '@plat-dev/kinds/policy/schema/v1beta1';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@plat-dev/kinds/rbac/schema/v1';
import type { PriorityClass } from '@plat-dev/kinds/scheduling/schema/v1';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity as CSIStorageCapacityV1,
  StorageClass,
  VolumeAttachment,
} from '@plat-dev/kinds/storage/schema/v1';
import type { CSIStorageCapacity as CSIStorageCapacityV1beta1 } from '@plat-dev/kinds/storage/schema/v1beta1';

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
