/**
 * Kinds that release 1.24 does not have. A server of 1.24 does not load them, unless `--runtime-config` names one of their versions.
 * They come after all others in discovery.
 */
import { MutatingAdmissionPolicyKind } from './admissionregistration/mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBindingKind } from './admissionregistration/mutating-admission-policy-binding.ts';
import { ValidatingAdmissionPolicyKind } from './admissionregistration/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBindingKind } from './admissionregistration/validating-admission-policy-binding.ts';
import { SelfSubjectReviewKind } from './authentication/self-subject-review.ts';
import { ClusterTrustBundleKind } from './certificates/cluster-trust-bundle.ts';
import { PodCertificateRequestKind } from './certificates/pod-certificate-request.ts';
import { LeaseCandidateKind } from './coordination/lease-candidate.ts';
import type { Kind } from './kind.ts';
import { IPAddressKind } from './networking/ip-address.ts';
import { ServiceCIDRKind } from './networking/service-cidr.ts';
import { DeviceClassKind } from './resource/device-class.ts';
import { DeviceTaintRuleKind } from './resource/device-taint-rule.ts';
import { ResourceClaimKind } from './resource/resource-claim.ts';
import { ResourceClaimTemplateKind } from './resource/resource-claim-template.ts';
import { ResourcePoolStatusRequestKind } from './resource/resource-pool-status-request.ts';
import { ResourceSliceKind } from './resource/resource-slice.ts';
import { PodGroupKind } from './scheduling/pod-group.ts';
import { WorkloadKind } from './scheduling/workload.ts';
import { VolumeAttributesClassKind } from './storage/volume-attributes-class.ts';
import { StorageVersionMigrationKind } from './storagemigration/storage-version-migration.ts';

export const newerKinds: readonly Kind[] = [
  MutatingAdmissionPolicyKind,
  MutatingAdmissionPolicyBindingKind,
  ValidatingAdmissionPolicyKind,
  ValidatingAdmissionPolicyBindingKind,
  SelfSubjectReviewKind,
  ClusterTrustBundleKind,
  PodCertificateRequestKind,
  LeaseCandidateKind,
  IPAddressKind,
  ServiceCIDRKind,
  DeviceClassKind,
  DeviceTaintRuleKind,
  ResourceClaimKind,
  ResourceClaimTemplateKind,
  ResourcePoolStatusRequestKind,
  ResourceSliceKind,
  PodGroupKind,
  WorkloadKind,
  VolumeAttributesClassKind,
  StorageVersionMigrationKind,
];
