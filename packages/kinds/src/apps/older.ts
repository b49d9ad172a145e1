/** The versions of workloads before apps/v1. */
import { version } from '../kind.ts';
import { hubDefaults, type OlderVersions, ownParts } from '../older.ts';
import { DaemonSetKind } from './daemon-set.ts';
import { DeploymentKind, mutableSelector } from './deployment.ts';
import { defaultLabels, deploymentFromHub, deploymentToHub } from './older-fields.ts';
import { olderScale, rollback } from './older-subresources.ts';
import { ReplicaSetKind } from './replica-set.ts';
import type { Deployment } from './schema/deployment.ts';
import type { OlderDeployment } from './schema/older.ts';
import type { StatefulSet } from './schema/stateful-set.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';
import { StatefulSetKind } from './stateful-set.ts';

const deploymentDefaults = hubDefaults(DeploymentKind);
const statefulSetDefaults = hubDefaults(StatefulSetKind);

export const olderApps: readonly OlderVersions[] = [
  {
    group: 'apps',
    plural: 'controllerrevisions',
    versions: {
      v1beta2: { schema: v1beta2.ControllerRevision },
      v1beta1: { schema: v1beta1.ControllerRevision },
    },
  },
  {
    group: 'apps',
    plural: 'daemonsets',
    orphansByDefault: ['v1beta2'],
    versions: {
      v1beta2: { schema: v1beta2.DaemonSet, defaults: hubDefaults(DaemonSetKind) },
    },
  },
  {
    group: 'apps',
    plural: 'deployments',
    orphansByDefault: ['v1beta1', 'v1beta2'],
    versions: {
      v1beta2: {
        schema: v1beta2.Deployment,
        defaults: deploymentDefaults,
        own: ownParts<Deployment>({
          subresources: { ...DeploymentKind.subresources, scale: olderScale('apps', 'v1beta2', v1beta2.Scale) },
        }),
      },
      v1beta1: version<OlderDeployment, Deployment>({
        schema: v1beta1.Deployment,
        defaults(deployment, env, mode) {
          defaultLabels(deployment);
          deployment.spec.revisionHistoryLimit ??= 2;
          deploymentDefaults(deployment, env, mode);
        },
        toHub: deploymentToHub,
        fromHub: deploymentFromHub,
        own: ownParts<Deployment>({
          strategy: mutableSelector,
          subresources: {
            ...DeploymentKind.subresources,
            rollback: rollback('apps', 'v1beta1', v1beta1.DeploymentRollback),
            scale: olderScale('apps', 'v1beta1', v1beta1.Scale),
          },
        }),
      }),
    },
  },
  {
    group: 'apps',
    plural: 'replicasets',
    orphansByDefault: ['v1beta2'],
    versions: {
      v1beta2: {
        schema: v1beta2.ReplicaSet,
        defaults: hubDefaults(ReplicaSetKind),
        own: ownParts({
          subresources: { ...ReplicaSetKind.subresources, scale: olderScale('apps', 'v1beta2', v1beta2.Scale) },
        }),
      },
    },
  },
  {
    group: 'apps',
    plural: 'statefulsets',
    orphansByDefault: ['v1beta1', 'v1beta2'],
    versions: {
      v1beta2: {
        schema: v1beta2.StatefulSet,
        defaults: statefulSetDefaults,
        own: ownParts({
          subresources: { ...StatefulSetKind.subresources, scale: olderScale('apps', 'v1beta2', v1beta2.Scale) },
        }),
      },
      v1beta1: version<StatefulSet, StatefulSet>({
        schema: v1beta1.StatefulSet,
        defaults(set, env, mode) {
          defaultLabels(set);
          set.spec.updateStrategy.type ??= 'OnDelete';
          statefulSetDefaults(set, env, mode);
        },
        own: ownParts({
          subresources: { ...StatefulSetKind.subresources, scale: olderScale('apps', 'v1beta1', v1beta1.Scale) },
        }),
      }),
    },
  },
];
