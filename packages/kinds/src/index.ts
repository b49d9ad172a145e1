/** All built-in kinds, in the order in which discovery shows them: groups by priority, kinds by name within a group. */
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import { MutatingWebhookConfigurationKind } from './admissionregistration/mutating-webhook-configuration.ts';
import { ValidatingWebhookConfigurationKind } from './admissionregistration/validating-webhook-configuration.ts';
import { customResourceDefinitionKind } from './apiextensions/custom-resource-definition.ts';
import { APIServiceKind } from './apiregistration/api-service.ts';
import { ControllerRevisionKind } from './apps/controller-revision.ts';
import { DaemonSetKind } from './apps/daemon-set.ts';
import { DeploymentKind } from './apps/deployment.ts';
import { ReplicaSetKind } from './apps/replica-set.ts';
import { StatefulSetKind } from './apps/stateful-set.ts';
import { TokenReviewKind } from './authentication/token-review.ts';
import { LocalSubjectAccessReviewKind } from './authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReviewKind } from './authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReviewKind } from './authorization/self-subject-rules-review.ts';
import { SubjectAccessReviewKind } from './authorization/subject-access-review.ts';
import { HorizontalPodAutoscalerKind } from './autoscaling/horizontal-pod-autoscaler.ts';
import { CronJobKind } from './batch/cron-job.ts';
import { JobKind } from './batch/job.ts';
import { CertificateSigningRequestKind } from './certificates/certificate-signing-request.ts';
import { LeaseKind } from './coordination/lease.ts';
import { BindingKind } from './core/binding.ts';
import { ComponentStatusKind } from './core/component-status.ts';
import { ConfigMapKind } from './core/config-map.ts';
import { EndpointsKind } from './core/endpoints.ts';
import { EventKind } from './core/event.ts';
import { LimitRangeKind } from './core/limit-range.ts';
import { NamespaceKind } from './core/namespace.ts';
import { NodeKind } from './core/node.ts';
import { PersistentVolumeKind } from './core/persistent-volume.ts';
import { PersistentVolumeClaimKind } from './core/persistent-volume-claim.ts';
import { PodKind } from './core/pods/pod.ts';
import { PodTemplateKind } from './core/pods/pod-template.ts';
import { ReplicationControllerKind } from './core/replication-controller.ts';
import { ResourceQuotaKind } from './core/resource-quota.ts';
import { SecretKind } from './core/secret.ts';
import { ServiceAccountKind } from './core/service-account.ts';
import { ServiceKind } from './core/services/service.ts';
import { EndpointSliceKind } from './discovery/endpoint-slice.ts';
import { EventsEventKind } from './events/event.ts';
import { FlowSchemaKind } from './flowcontrol/flow-schema.ts';
import { PriorityLevelConfigurationKind } from './flowcontrol/priority-level-configuration.ts';
import type { Kind } from './kind.ts';
import { kindIn } from './kind-in-release.ts';
import { IngressKind } from './networking/ingress.ts';
import { IngressClassKind } from './networking/ingress-class.ts';
import { NetworkPolicyKind } from './networking/network-policy.ts';
import { RuntimeClassKind } from './node/runtime-class.ts';
import { PodDisruptionBudgetKind } from './policy/pod-disruption-budget.ts';
import { PodSecurityPolicyKind } from './policy/pod-security-policy.ts';
import { ClusterRoleKind } from './rbac/cluster-role.ts';
import { ClusterRoleBindingKind } from './rbac/cluster-role-binding.ts';
import { RoleKind } from './rbac/role.ts';
import { RoleBindingKind } from './rbac/role-binding.ts';
import { PriorityClassKind } from './scheduling/priority-class.ts';
import { CSIDriverKind } from './storage/csi-driver.ts';
import { CSINodeKind } from './storage/csi-node.ts';
import { CSIStorageCapacityKind } from './storage/csi-storage-capacity.ts';
import { StorageClassKind } from './storage/storage-class.ts';
import { VolumeAttachmentKind } from './storage/volume-attachment.ts';

/**
 * As a release of the API has them, or with what all releases have. Identities differ only in the schema of custom resource definitions
 * and in the full names of groups.
 */
export function builtinKinds(identity: Identity, release: ApiRelease | 'all' = apiRelease): Kind[] {
  const kinds = wholeKinds(identity);
  return release === 'all' ? kinds : kinds.map((kind) => kindIn(release, kind));
}

function wholeKinds(identity: Identity): Kind[] {
  return [
    BindingKind,
    ComponentStatusKind,
    ConfigMapKind,
    EndpointsKind,
    EventKind,
    LimitRangeKind,
    NamespaceKind,
    NodeKind,
    PersistentVolumeClaimKind,
    PersistentVolumeKind,
    PodKind,
    PodTemplateKind,
    ReplicationControllerKind,
    ResourceQuotaKind,
    SecretKind,
    ServiceAccountKind,
    ServiceKind,
    APIServiceKind,
    ControllerRevisionKind,
    DaemonSetKind,
    DeploymentKind,
    ReplicaSetKind,
    StatefulSetKind,
    EventsEventKind,
    TokenReviewKind,
    LocalSubjectAccessReviewKind,
    SelfSubjectAccessReviewKind,
    SelfSubjectRulesReviewKind,
    SubjectAccessReviewKind,
    HorizontalPodAutoscalerKind,
    CronJobKind,
    JobKind,
    CertificateSigningRequestKind,
    IngressClassKind,
    IngressKind,
    NetworkPolicyKind,
    PodDisruptionBudgetKind,
    PodSecurityPolicyKind,
    ClusterRoleBindingKind,
    ClusterRoleKind,
    RoleBindingKind,
    RoleKind,
    CSIDriverKind,
    CSINodeKind,
    CSIStorageCapacityKind,
    StorageClassKind,
    VolumeAttachmentKind,
    MutatingWebhookConfigurationKind,
    ValidatingWebhookConfigurationKind,
    customResourceDefinitionKind(identity),
    PriorityClassKind,
    LeaseKind,
    RuntimeClassKind,
    EndpointSliceKind,
    FlowSchemaKind,
    PriorityLevelConfigurationKind,
  ];
}
