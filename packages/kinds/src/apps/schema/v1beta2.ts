/** The kinds of apps/v1beta2: the same fields as in version 1, but for the scale. */
import { inVersion } from '../../versions.ts';
import * as revision from './controller-revision.ts';
import * as daemonSet from './daemon-set.ts';
import * as deployment from './deployment.ts';
import { scaleSchema } from './older.ts';
import * as replicaSet from './replica-set.ts';
import * as statefulSet from './stateful-set.ts';

const version = 'apps.v1beta2';

export const ControllerRevision = inVersion(revision.ControllerRevision, version);
export const DaemonSet = inVersion(daemonSet.DaemonSet, version);
export const Deployment = inVersion(deployment.Deployment, version);
export const ReplicaSet = inVersion(replicaSet.ReplicaSet, version);
export const Scale = scaleSchema(version);
export const StatefulSet = inVersion(statefulSet.StatefulSet, version);
