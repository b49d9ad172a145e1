import type { Descriptions } from '../../description-texts.ts';

export const certificates: Descriptions = {
  'certificates.CertificateSigningRequest': {
    $: 'Requests an X.509 certificate. A signer issues it after the request has been approved.',
    spec: 'The requested certificate, and the requesting user. Cannot be changed once created.',
    status: 'Whether the request is approved or denied, and the issued certificate.',
  },
  'certificates.CertificateSigningRequestSpec': {
    $: 'The requested certificate and its requester.',
    request: 'X.509 certificate signing request in PEM, encoded in base64.',
    signerName: 'Requested signer, as domain/path. It decides which requests it honors, and how.',
    expirationSeconds: 'Requested lifetime, at least 600 seconds. The signer may issue another; without it the signer decides.',
    usages: 'Key usages that the certificate must have, such as digital signature and client auth.',
    username: 'Name of the requester. The server fills it in at creation.',
    uid: 'UID of the requester. The server fills it in at creation.',
    groups: 'Groups of the requester. The server fills them in at creation.',
    extra: 'Additional information about the requester. The server fills it in at creation.',
  },
  'certificates.CertificateSigningRequestStatus': {
    $: 'What has become of a request.',
    conditions: 'Approved, Denied and Failed. They can be added and not removed; Approved and Denied exclude each other.',
    certificate: 'Issued certificate, with its intermediates, in PEM and encoded in base64. Cannot be changed once it is set.',
  },
  'certificates.CertificateSigningRequestCondition': {
    $: 'A decision about a request, or the failure to fulfil it.',
    type: 'Approved, Denied or Failed; signers may add types of their own.',
    status: 'Approved, Denied and Failed must be True; other types may be False or Unknown as well.',
  },
};
