/** Admission reviews: requests to webhooks and their responses. */
import { always, bool, bytes, type Infer, list, map, message, object, opt, ptr, raw, string } from '@plat-dev/schema/types';
import { UserInfo } from '../../authentication/schema/v1.ts';
import { GroupVersionKind, GroupVersionResource, Status } from '../../meta-kinds.ts';

const AdmissionRequest = message('admission.v1.AdmissionRequest', {
  uid: always(1, string),
  kind: always(2, GroupVersionKind),
  resource: always(3, GroupVersionResource),
  subResource: opt(4, string),
  requestKind: ptr(13, GroupVersionKind),
  requestResource: ptr(14, GroupVersionResource),
  requestSubResource: opt(15, string),
  name: opt(5, string),
  namespace: opt(6, string),
  operation: always(7, string),
  userInfo: always(8, UserInfo),
  object: always(9, raw),
  oldObject: always(10, raw),
  dryRun: ptr(11, bool),
  options: always(12, raw),
});

const AdmissionResponse = message('admission.v1.AdmissionResponse', {
  uid: always(1, string),
  allowed: always(2, bool),
  status: ptr(3, Status),
  patch: opt(4, bytes),
  patchType: ptr(5, string),
  auditAnnotations: opt(6, map(string)),
  warnings: opt(7, list(string)),
});

export const AdmissionReview = object('admission.v1.AdmissionReview', {
  request: ptr(1, AdmissionRequest),
  response: ptr(2, AdmissionResponse),
});
export type AdmissionReview = Infer<typeof AdmissionReview>;
