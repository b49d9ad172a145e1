/** The kinds of apps/v1beta1. */
import { inVersion } from '../../versions.ts';
import * as v1 from './controller-revision.ts';
import { deploymentSchemas, scaleSchema, statefulSetSchema } from './older.ts';

const version = 'apps.v1beta1';

export const ControllerRevision = inVersion(v1.ControllerRevision, version);
export const { Deployment, DeploymentRollback } = deploymentSchemas(version);
export const Scale = scaleSchema(version);
export const StatefulSet = statefulSetSchema(version);
