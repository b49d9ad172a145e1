/** Certificate signing requests. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { objectSubresource, status } from '../subresources.ts';
import { CertificateSigningRequest } from './schema/v1.ts';

export const CertificateSigningRequestKind = kind<CertificateSigningRequest>({
  group: 'certificates',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  short: ['csr'],
  scope: 'Cluster',
  versions: { v1: { schema: CertificateSigningRequest } },
  hub: 'v1',
  subresources: { approval: objectSubresource(), status: status() },
  columns: [
    nameColumn,
    ageColumn,
    { name: 'SignerName', type: 'string', description: 'The signer that is asked.' },
    { name: 'Requestor', type: 'string', description: 'Who made the request.' },
    { name: 'RequestedDuration', type: 'string', description: 'How long the certificate is to be valid.' },
    {
      name: 'Condition',
      type: 'string',
      description: 'Whether the request is pending, approved, denied or failed, and whether a certificate was issued.',
    },
  ],
});
