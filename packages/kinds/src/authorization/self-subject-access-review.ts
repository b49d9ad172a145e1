/** Access reviews of the requesting user. */
import { kind } from '../kind.ts';
import { SelfSubjectAccessReview } from './schema/v1.ts';

export const SelfSubjectAccessReviewKind = kind<SelfSubjectAccessReview>({
  group: 'authorization',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: SelfSubjectAccessReview } },
  hub: 'v1',
});
