/** Certificate signing requests. */
import { always, boxed, bytes, type Infer, int32, list, map, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { itemValues } from '../../published-values.ts';

export const keyUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const CertificateSigningRequestSpec = message('certificates.v1.CertificateSigningRequestSpec', {
  request: req(1, bytes),
  signerName: req(7, string),
  expirationSeconds: ptr(8, int32),
  usages: opt(5, list(string), itemValues(...keyUsages)),
  username: opt(2, string),
  uid: opt(3, string),
  groups: opt(4, list(string)),
  extra: opt(6, map(boxed(list(string)))),
});

export const CertificateSigningRequestCondition = message('certificates.v1.CertificateSigningRequestCondition', {
  type: req(1, string),
  status: req(6, string),
  reason: opt(2, string),
  message: opt(3, string),
  lastUpdateTime: always(4, time),
  lastTransitionTime: always(5, time),
});
export type CertificateSigningRequestCondition = Infer<typeof CertificateSigningRequestCondition>;

export const CertificateSigningRequestStatus = message('certificates.v1.CertificateSigningRequestStatus', {
  conditions: opt(1, list(CertificateSigningRequestCondition, 'map', ['type'])),
  certificate: opt(2, bytes),
});
export type CertificateSigningRequestStatus = Infer<typeof CertificateSigningRequestStatus>;

export const CertificateSigningRequest = object('certificates.v1.CertificateSigningRequest', {
  metadata: always(1, ObjectMeta),
  spec: req(2, CertificateSigningRequestSpec),
  status: always(3, CertificateSigningRequestStatus),
});
export type CertificateSigningRequest = Infer<typeof CertificateSigningRequest>;
