/** Image reviews: requests to image policy webhooks and their responses. */
import { always, bool, type Infer, list, map, message, object, opt, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const ImageReviewContainerSpec = message('imagepolicy.v1alpha1.ImageReviewContainerSpec', {
  image: opt(1, string),
});

export const ImageReviewSpec = message('imagepolicy.v1alpha1.ImageReviewSpec', {
  containers: opt(1, list(ImageReviewContainerSpec)),
  annotations: opt(2, map(string)),
  namespace: opt(3, string),
});
export type ImageReviewSpec = Infer<typeof ImageReviewSpec>;

export const ImageReviewStatus = message('imagepolicy.v1alpha1.ImageReviewStatus', {
  allowed: always(1, bool),
  reason: opt(2, string),
  auditAnnotations: opt(3, map(string)),
});
export type ImageReviewStatus = Infer<typeof ImageReviewStatus>;

export const ImageReview = object('imagepolicy.v1alpha1.ImageReview', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ImageReviewSpec),
  status: always(3, ImageReviewStatus),
});
export type ImageReview = Infer<typeof ImageReview>;
