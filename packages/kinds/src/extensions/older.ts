/**
 * The group `extensions`, whose kinds have moved to apps, networking and policy. Objects are the same under either name: one that was
 * created as extensions/v1beta1 Deployment is listed as apps/v1 Deployment.
 */
import { DaemonSetKind, mutableSelector as mutableDaemonSets, specDefaults } from '../apps/daemon-set.ts';
import { DeploymentKind, mutableSelector as mutableDeployments } from '../apps/deployment.ts';
import { daemonSetFromHub, daemonSetToHub, defaultLabels, deploymentFromHub, deploymentToHub } from '../apps/older-fields.ts';
import { olderScale, rollback } from '../apps/older-subresources.ts';
import { mutableSelector as mutableReplicaSets, ReplicaSetKind } from '../apps/replica-set.ts';
import type { DaemonSet } from '../apps/schema/daemon-set.ts';
import type { Deployment } from '../apps/schema/deployment.ts';
import type { OlderDaemonSet, OlderDeployment } from '../apps/schema/older.ts';
import type { ReplicaSet } from '../apps/schema/replica-set.ts';
import { type Kind, version } from '../kind.ts';
import { IngressKind } from '../networking/ingress.ts';
import { NetworkPolicyKind } from '../networking/network-policy.ts';
import { ingressFromHub, ingressToHub } from '../networking/older-backends.ts';
import { hubDefaults, movedKind, ownParts } from '../older.ts';
import { PodSecurityPolicyKind } from '../policy/pod-security-policy.ts';
import * as v1beta1 from './schema/v1beta1.ts';

const group = 'extensions';
/** The largest value of the field, which means no limit. */
const UNLIMITED = 2 ** 31 - 1;

const scale = olderScale(group, 'v1beta1', v1beta1.Scale);
const deploymentDefaults = hubDefaults(DeploymentKind);
const replicaSetDefaults = hubDefaults(ReplicaSetKind);

const deployment = version<OlderDeployment, Deployment>({
  schema: v1beta1.Deployment,
  defaults(object, env, mode) {
    const { spec } = object;
    defaultLabels(object);
    spec.strategy.type ??= 'RollingUpdate';
    if (spec.strategy.type === 'RollingUpdate' || spec.strategy.rollingUpdate !== undefined) {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= 1;
      spec.strategy.rollingUpdate.maxSurge ??= 1;
    }
    spec.revisionHistoryLimit ??= UNLIMITED;
    spec.progressDeadlineSeconds ??= UNLIMITED;
    deploymentDefaults(object, env, mode);
  },
  toHub: deploymentToHub,
  fromHub: deploymentFromHub,
  own: ownParts<Deployment>({
    strategy: mutableDeployments,
    subresources: { ...DeploymentKind.subresources, rollback: rollback(group, 'v1beta1', v1beta1.DeploymentRollback), scale },
  }),
});

const daemonSet = version<OlderDaemonSet, DaemonSet>({
  schema: v1beta1.DaemonSet,
  defaults(object, env) {
    defaultLabels(object);
    object.spec.updateStrategy.type ??= 'OnDelete';
    specDefaults(object.spec, env);
  },
  toHub: daemonSetToHub,
  fromHub: daemonSetFromHub,
  own: ownParts<DaemonSet>({ strategy: mutableDaemonSets }),
});

const replicaSet = version<ReplicaSet, ReplicaSet>({
  schema: v1beta1.ReplicaSet,
  defaults(object, env, mode) {
    defaultLabels(object);
    replicaSetDefaults(object, env, mode);
  },
  own: ownParts<ReplicaSet>({ strategy: mutableReplicaSets, subresources: { ...ReplicaSetKind.subresources, scale } }),
});

const ingress = version({
  schema: v1beta1.Ingress,
  toHub: ingressToHub,
  fromHub: ingressFromHub,
});

const networkPolicy = {
  schema: v1beta1.NetworkPolicy,
  defaults: hubDefaults(NetworkPolicyKind),
};

const podSecurityPolicy = {
  schema: v1beta1.PodSecurityPolicy,
  defaults: hubDefaults(PodSecurityPolicyKind),
};

const orphansByDefault = true;

export const extensionsKinds: readonly Kind[] = [
  movedKind(DaemonSetKind, group, 'v1beta1', daemonSet, { orphansByDefault }),
  movedKind(DeploymentKind, group, 'v1beta1', deployment, { orphansByDefault }),
  movedKind(IngressKind, group, 'v1beta1', ingress),
  movedKind(NetworkPolicyKind, group, 'v1beta1', networkPolicy),
  movedKind(PodSecurityPolicyKind, group, 'v1beta1', podSecurityPolicy),
  movedKind(ReplicaSetKind, group, 'v1beta1', replicaSet, { orphansByDefault }),
];
