/** Access reviews: whether a user may do an action. */
import { kind } from '../kind.ts';
import { SubjectAccessReview } from './schema/v1.ts';

export const SubjectAccessReviewKind = kind<SubjectAccessReview>({
  group: 'authorization',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: SubjectAccessReview } },
  hub: 'v1',
});
