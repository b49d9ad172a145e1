/** Requests of node agents for certificates of pods. */
import { always, bytes, type Infer, int32, list, map, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';

const PodCertificateRequestSpec = message('certificates.v1beta1.PodCertificateRequestSpec', {
  signerName: req(1, string),
  podName: req(2, string),
  podUID: req(3, string),
  serviceAccountName: req(4, string),
  serviceAccountUID: req(5, string),
  nodeName: req(6, string),
  nodeUID: req(7, string),
  maxExpirationSeconds: ptr(8, int32, { default: 86_400 }),
  pkixPublicKey: req(9, bytes, { from: { '1.36': { required: false } } }),
  proofOfPossession: req(10, bytes, { from: { '1.36': { required: false } } }),
  stubPKCS10Request: req(12, bytes, { since: '1.36' }),
  unverifiedUserAnnotations: opt(11, map(string), { since: '1.35' }),
});
export type PodCertificateRequestSpec = Infer<typeof PodCertificateRequestSpec>;

const PodCertificateRequestStatus = message('certificates.v1beta1.PodCertificateRequestStatus', {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  certificateChain: opt(2, string),
  notBefore: ptr(4, time),
  beginRefreshAt: ptr(5, time),
  notAfter: ptr(6, time),
});
export type PodCertificateRequestStatus = Infer<typeof PodCertificateRequestStatus>;

export const PodCertificateRequest = object('certificates.v1beta1.PodCertificateRequest', {
  metadata: always(1, ObjectMeta),
  spec: req(2, PodCertificateRequestSpec),
  status: always(3, PodCertificateRequestStatus),
});
export type PodCertificateRequest = Infer<typeof PodCertificateRequest>;

export const PodCertificateRequestV1alpha1 = inVersion(PodCertificateRequest, 'certificates.v1alpha1');
