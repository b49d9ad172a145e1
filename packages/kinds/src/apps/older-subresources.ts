/** Subresources of the versions before apps/v1: `scale`, with their own group and version, and `rollback`. */

import type { MessageType } from '@plat-dev/schema/types';
import { type Scalable, scale } from '../autoscaling/scale.ts';
import type { Scale } from '../autoscaling/schema/scale.ts';
import type { ActionSubresource, KindEnv, ViewSubresource } from '../kind.ts';
import type { LabelSelector } from '../meta.ts';
import type { OlderScale } from './schema/older.ts';

interface Selecting extends Scalable {
  spec: { replicas?: number; selector?: LabelSelector };
}

export function olderScale<T extends Selecting>(group: string, version: string, schema: MessageType): ViewSubresource<T> {
  const today = scale<T>((object) => object.spec.selector) as unknown as ViewSubresource<T, Scale>;
  const view = {
    ...today,
    kind: { group, version, kind: 'Scale' },
    schema,
    show(object: T, env: KindEnv): OlderScale {
      const { status, ...rest } = today.show(object, env);
      const { matchLabels, matchExpressions = [] } = object.spec.selector ?? {};
      return {
        ...rest,
        status: {
          replicas: status.replicas,
          ...(matchLabels !== undefined && matchExpressions.length === 0 && { selector: matchLabels }),
          ...(status.selector !== undefined && { targetSelector: status.selector }),
        },
      };
    },
  };
  return view as unknown as ViewSubresource<T>;
}

/** Requests a rollback of a deployment by an annotation. */
export const rollback = (group: string, version: string, schema: MessageType): ActionSubresource => ({
  type: 'action',
  verbs: ['create'],
  kind: { group, version, kind: 'DeploymentRollback' },
  schema,
});
