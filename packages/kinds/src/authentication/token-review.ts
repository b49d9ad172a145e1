/** Token reviews: the user of a token. */
import { kind } from '../kind.ts';
import { TokenReview } from './schema/v1.ts';

export const TokenReviewKind = kind<TokenReview>({
  group: 'authentication',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: TokenReview } },
  hub: 'v1',
});
