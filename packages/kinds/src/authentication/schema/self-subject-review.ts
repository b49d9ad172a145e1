/** Who the requesting user is. */
import { always, type Infer, message, object } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import { UserInfo } from './v1.ts';

const SelfSubjectReviewStatus = message('authentication.v1.SelfSubjectReviewStatus', {
  userInfo: always(1, UserInfo),
});

export const SelfSubjectReview = object('authentication.v1.SelfSubjectReview', {
  metadata: always(1, ObjectMeta),
  status: always(2, SelfSubjectReviewStatus),
});
export type SelfSubjectReview = Infer<typeof SelfSubjectReview>;

/** The same fields in older versions; the user is that of version 1 in all of them. */
export const olderSelfSubjectReview = (version: string) => inVersion(SelfSubjectReview, `authentication.${version}`, [UserInfo]);
