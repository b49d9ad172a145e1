/** Why one object is in its state. */
import { kind } from '../kind.ts';
import { DeletionExplanation } from './schema/object-explanations.ts';

export const DeletionExplanationKind = kind<DeletionExplanation>({
  group: 'explain',
  kind: 'DeletionExplanation',
  plural: 'deletionexplanations',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: DeletionExplanation } },
  hub: 'v1alpha1',
});
