/** Rollbacks that clients of older versions of the API request by an annotation; others write the template themselves. */

import { rollbackRevision } from '@plat-dev/kinds/apps/older-fields';
import { own } from '@plat-dev/lib/own';
import { deploymentAnnotations } from '@plat-dev/meta/identity';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { DeploymentObject } from './limits.ts';
import { lastRevisions, parseRevision, type RevisionNames, revisionOf } from './revisions.ts';
import { isSameTemplate, withoutHash } from './sets.ts';

/** The names of the annotation: that of this server, and that of a stock one. */
const requests = [rollbackRevision, 'deprecated.deployment.rollback.to'];

/** The requested revision; 0 is the previous one. Undefined where none is requested. */
export function rollbackOf({ metadata }: DeploymentObject): bigint | undefined {
  return requests.map((name) => parseRevision(own(metadata.annotations, name))).find((revision) => revision !== undefined);
}

export interface RolledBack {
  /** The deployment without the request, and with the template of that revision. */
  readonly deployment: DeploymentObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export function rollbackTo(
  deployment: DeploymentObject,
  sets: readonly ReplicaSetObject[],
  requested: bigint,
  names: RevisionNames,
): RolledBack {
  const keptAnnotations = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !requests.includes(name));
  const cleared = { ...deployment, metadata: { ...deployment.metadata, annotations: Object.fromEntries(keptAnnotations) } };
  const refused = (reason: string, message: string): RolledBack => ({ deployment: cleared, type: 'Warning', reason, message });
  const revision = requested === 0n ? lastRevisions(sets, names)[1] : requested;
  if (revision === 0n) return refused('DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const set = sets.find((one) => revisionOf(one, names) === revision);
  if (set === undefined) return refused('DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  const name = JSON.stringify(deployment.metadata.name);
  const { template } = set.spec ?? {};
  if (isSameTemplate(template, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment ${name}`;
    return refused('DeploymentRollbackTemplateUnchanged', message);
  }
  // Annotations such as the cause of a change belong to the revision; those about the rollout do not.
  const own = keptAnnotations.filter(([annotation]) => deploymentAnnotations.has(annotation));
  const earlier = Object.entries(set.metadata.annotations ?? {}).filter(([annotation]) => !deploymentAnnotations.has(annotation));
  const annotations = Object.fromEntries([...own, ...earlier]);
  return {
    deployment: {
      ...cleared,
      metadata: { ...cleared.metadata, annotations },
      spec: { ...deployment.spec, template: withoutHash(template) },
    } as DeploymentObject,
    type: 'Normal',
    reason: 'DeploymentRollback',
    message: `Rolled back deployment ${name} to revision ${revision}`,
  };
}
