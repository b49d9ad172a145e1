/** The rules of the requesting user. */
import { kind } from '../kind.ts';
import { SelfSubjectRulesReview } from './schema/v1.ts';

export const SelfSubjectRulesReviewKind = kind<SelfSubjectRulesReview>({
  group: 'authorization',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: SelfSubjectRulesReview } },
  hub: 'v1',
});
