/** authentication/v1beta1. */
import { type OlderVersions, sameFields } from '../older.ts';
import { TokenReviewKind } from './token-review.ts';

export const olderAuthentication: readonly OlderVersions[] = [
  {
    group: 'authentication',
    plural: 'tokenreviews',
    versions: {
      v1beta1: sameFields(TokenReviewKind, 'authentication.v1beta1'),
    },
  },
];
