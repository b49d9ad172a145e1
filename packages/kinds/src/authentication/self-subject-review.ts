/** Self subject reviews: who the requesting user is. */
import { kind } from '../kind.ts';
import { olderSelfSubjectReview, SelfSubjectReview } from './schema/self-subject-review.ts';

export const SelfSubjectReviewKind = kind<SelfSubjectReview>({
  group: 'authentication',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: {
    v1: { schema: SelfSubjectReview },
    v1beta1: { schema: olderSelfSubjectReview('v1beta1') },
    v1alpha1: { schema: olderSelfSubjectReview('v1alpha1') },
  },
  hub: 'v1',
});
