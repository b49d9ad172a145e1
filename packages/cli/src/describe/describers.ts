/** The describers of kinds that have a page of their own; every other kind has the general one. */
import { describeAutoscaler } from './autoscaler.ts';
import { describeCertificateRequest } from './certificate-request.ts';
import { describeClaim } from './claims.ts';
import { describeConfigMap, describeSecret, describeServiceAccount } from './config.ts';
import type { Describer } from './describer.ts';
import { describeIngress, describeIngressClass } from './ingress.ts';
import { describeCronJob, describeJob } from './jobs.ts';
import { describeLimitRange, describeNamespace, describeQuota } from './namespace.ts';
import { describeNetworkPolicy } from './network-policy.ts';
import { describeNode } from './node.ts';
import { describePod } from './pod.ts';
import { describeDisruptionBudget, describePodSecurityPolicy, describePriorityClass } from './policy.ts';
import { describeRole, describeRoleBinding } from './rbac.ts';
import { describeEndpointSlice, describeEndpoints, describeService } from './services.ts';
import { describeCSINode, describeStorageClass, describeVolume } from './storage.ts';
import {
  describeDaemonSet,
  describeDeployment,
  describeReplicaSet,
  describeReplicationController,
  describeStatefulSet,
} from './workloads.ts';

/** By group without suffix, and kind. */
export const describers: Readonly<Record<string, Describer>> = {
  '/ConfigMap': describeConfigMap,
  '/Endpoints': describeEndpoints,
  '/LimitRange': describeLimitRange,
  '/Namespace': describeNamespace,
  '/Node': describeNode,
  '/PersistentVolume': describeVolume,
  '/PersistentVolumeClaim': describeClaim,
  '/Pod': describePod,
  '/ReplicationController': describeReplicationController,
  '/ResourceQuota': describeQuota,
  '/Secret': describeSecret,
  '/Service': describeService,
  '/ServiceAccount': describeServiceAccount,
  'apps/DaemonSet': describeDaemonSet,
  'apps/Deployment': describeDeployment,
  'apps/ReplicaSet': describeReplicaSet,
  'apps/StatefulSet': describeStatefulSet,
  'autoscaling/HorizontalPodAutoscaler': describeAutoscaler,
  'batch/CronJob': describeCronJob,
  'batch/Job': describeJob,
  'certificates/CertificateSigningRequest': describeCertificateRequest,
  'discovery/EndpointSlice': describeEndpointSlice,
  'extensions/Ingress': describeIngress,
  'networking/Ingress': describeIngress,
  'networking/IngressClass': describeIngressClass,
  'networking/NetworkPolicy': describeNetworkPolicy,
  'policy/PodDisruptionBudget': describeDisruptionBudget,
  'policy/PodSecurityPolicy': describePodSecurityPolicy,
  'rbac.authorization/ClusterRole': describeRole,
  'rbac.authorization/ClusterRoleBinding': describeRoleBinding,
  'rbac.authorization/Role': describeRole,
  'rbac.authorization/RoleBinding': describeRoleBinding,
  'scheduling/PriorityClass': describePriorityClass,
  'storage/CSINode': describeCSINode,
  'storage/StorageClass': describeStorageClass,
};
