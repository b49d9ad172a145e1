/** Certificate signing requests of version 1beta1, which need not name their signer. */
import { always, boxed, bytes, type Infer, int32, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const version = 'certificates.v1beta1';

const CertificateSigningRequestSpec = message(`${version}.CertificateSigningRequestSpec`, {
  request: req(1, bytes),
  signerName: ptr(7, string),
  expirationSeconds: ptr(8, int32),
  usages: opt(5, list(string)),
  username: opt(2, string),
  uid: opt(3, string),
  groups: opt(4, list(string)),
  extra: opt(6, map(boxed(list(string)))),
});

export const CertificateSigningRequest = object(`${version}.CertificateSigningRequest`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, CertificateSigningRequestSpec),
  status: always(3, inVersion(v1.CertificateSigningRequestStatus, version)),
});
export type CertificateSigningRequest = Infer<typeof CertificateSigningRequest>;
