/** The kinds of extensions/v1beta1, which have moved to apps, networking and policy. */
import { daemonSetSchema, deploymentSchemas, replicaSetSchema, scaleSchema } from '../../apps/schema/older.ts';
import * as networkPolicy from '../../networking/schema/network-policy.ts';
import { ingressSchema } from '../../networking/schema/older.ts';
import * as policy from '../../policy/schema/pod-security-policy.ts';
import { inVersion } from '../../versions.ts';

const version = 'extensions.v1beta1';

export const DaemonSet = daemonSetSchema(version);
export const { Deployment, DeploymentRollback } = deploymentSchemas(version);
export const Ingress = ingressSchema(version);
export const NetworkPolicy = inVersion(networkPolicy.NetworkPolicy, version);
export const PodSecurityPolicy = inVersion(policy.PodSecurityPolicy, version);
export const ReplicaSet = replicaSetSchema(version);
export const Scale = scaleSchema(version);
