/** Why one object is in its state. */
import { kind } from '../kind.ts';
import { DeletionExplanation, PendingExplanation, ReadinessExplanation } from './schema/object-explanations.ts';

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

export const PendingExplanationKind = kind<PendingExplanation>({
  group: 'explain',
  kind: 'PendingExplanation',
  plural: 'pendingexplanations',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: PendingExplanation } },
  hub: 'v1alpha1',
});

export const ReadinessExplanationKind = kind<ReadinessExplanation>({
  group: 'explain',
  kind: 'ReadinessExplanation',
  plural: 'readinessexplanations',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: ReadinessExplanation } },
  hub: 'v1alpha1',
});
