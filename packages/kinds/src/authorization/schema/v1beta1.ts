/** Access reviews of version 1beta1: the groups of a subject are in the field `group`. */
import { always, boxed, type Infer, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const version = 'authorization.v1beta1';

const SubjectAccessReviewSpec = message(`${version}.SubjectAccessReviewSpec`, {
  resourceAttributes: ptr(1, inVersion(v1.ResourceAttributes, version)),
  nonResourceAttributes: ptr(2, inVersion(v1.NonResourceAttributes, version)),
  user: opt(3, string),
  group: opt(4, list(string)),
  extra: opt(5, map(boxed(list(string)))),
  uid: opt(6, string),
});

const fields = {
  metadata: always(1, ObjectMeta),
  spec: req(2, SubjectAccessReviewSpec),
  status: always(3, inVersion(v1.SubjectAccessReviewStatus, version)),
};
export const LocalSubjectAccessReview = object(`${version}.LocalSubjectAccessReview`, fields);
export type LocalSubjectAccessReview = Infer<typeof LocalSubjectAccessReview>;

export const SubjectAccessReview = object(`${version}.SubjectAccessReview`, fields);
export type SubjectAccessReview = Infer<typeof SubjectAccessReview>;
