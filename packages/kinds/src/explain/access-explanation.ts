/** Why a request is allowed or refused. */
import { kind } from '../kind.ts';
import { AccessExplanation } from './schema/v1alpha1.ts';

export const AccessExplanationKind = kind<AccessExplanation>({
  group: 'explain',
  kind: 'AccessExplanation',
  plural: 'accessexplanations',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: AccessExplanation } },
  hub: 'v1alpha1',
});
