/** Access reviews within one namespace. */
import { kind } from '../kind.ts';
import { LocalSubjectAccessReview } from './schema/v1.ts';

export const LocalSubjectAccessReviewKind = kind<LocalSubjectAccessReview>({
  group: 'authorization',
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: LocalSubjectAccessReview } },
  hub: 'v1',
});
