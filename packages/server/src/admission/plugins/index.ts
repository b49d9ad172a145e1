/** Every plug-in by its name. `plugin-names.ts` has their order. */

import type { MakePlugin } from '../plugin.ts';
import type { PluginName } from '../plugin-names.ts';
import { alwaysAdmit } from './always-admit.ts';
import { alwaysDeny } from './always-deny.ts';
import { certificateApproval } from './certificates/certificate-approval.ts';
import { certificateSigning } from './certificates/certificate-signing.ts';
import { certificateSubjectRestriction } from './certificates/certificate-subject-restriction.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { denyServiceExternalIPs } from './deny-external-ips.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { mutatingAdmissionPolicy } from './mutating-policy.ts';
import { mutatingAdmissionWebhook } from './mutating-webhook.ts';
import { namespaceAutoProvision } from './namespaces/namespace-auto-provision.ts';
import { namespaceExists } from './namespaces/namespace-exists.ts';
import { namespaceLifecycle } from './namespaces/namespace-lifecycle.ts';
import { nodeRestriction } from './nodes/node-restriction.ts';
import { taintNodesByCondition } from './nodes/taint-nodes.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references.ts';
import { alwaysPullImages } from './pods/always-pull-images.ts';
import { limitPodHardAntiAffinityTopology } from './pods/anti-affinity-topology.ts';
import { defaultTolerationSeconds } from './pods/default-toleration-seconds.ts';
import { extendedResourceToleration } from './pods/extended-resource-toleration.ts';
import { imagePolicyWebhook } from './pods/image-policy-webhook.ts';
import { limitRanger } from './pods/limit-ranger.ts';
import { podNodeSelector } from './pods/pod-node-selector.ts';
import { podSecurity } from './pods/pod-security.ts';
import { podSecurityPolicy } from './pods/pod-security-policy.ts';
import { podTolerationRestriction } from './pods/pod-toleration-restriction.ts';
import { priority } from './pods/priority.ts';
import { runtimeClass } from './pods/runtime-class.ts';
import { securityContextDeny } from './pods/security-context-deny.ts';
import { serviceAccount } from './pods/service-account.ts';
import { resourceQuota } from './quota/resource-quota.ts';
import { persistentVolumeClaimResize } from './storage/claim-resize.ts';
import { defaultStorageClass } from './storage/default-storage-class.ts';
import { persistentVolumeLabel } from './storage/persistent-volume-label.ts';
import { storageObjectInUseProtection } from './storage/storage-object-in-use-protection.ts';
import { validatingAdmissionPolicy } from './validating-policy.ts';
import { validatingAdmissionWebhook } from './validating-webhook.ts';

export const plugins: Readonly<Record<PluginName, MakePlugin>> = {
  AlwaysAdmit: alwaysAdmit,
  NamespaceAutoProvision: namespaceAutoProvision,
  NamespaceLifecycle: namespaceLifecycle,
  NamespaceExists: namespaceExists,
  SecurityContextDeny: securityContextDeny,
  LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: taintNodesByCondition,
  AlwaysPullImages: alwaysPullImages,
  ImagePolicyWebhook: imagePolicyWebhook,
  PodSecurity: podSecurity,
  PodSecurityPolicy: podSecurityPolicy,
  PodNodeSelector: podNodeSelector,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  PodTolerationRestriction: podTolerationRestriction,
  EventRateLimit: eventRateLimit,
  ExtendedResourceToleration: extendedResourceToleration,
  PersistentVolumeLabel: persistentVolumeLabel,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIPs,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota,
  AlwaysDeny: alwaysDeny,
};
