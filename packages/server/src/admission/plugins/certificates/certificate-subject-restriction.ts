/**
 * CertificateSubjectRestriction: client certificates must not have the group `system:masters`. That group passes every check,
 * and a certificate cannot be revoked easily.
 */

import type { CertificateSigningRequest } from '@plat-dev/kinds/certificates/schema/v1';
import { parseRequest } from '@plat-dev/pki';
import { wellKnown } from '../../../auth/types.ts';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';

const MASTERS = wellKnown.masters;

export const certificateSubjectRestriction: MakePlugin = ({ identity }) => ({
  name: 'CertificateSubjectRestriction',
  handles: (operation) => operation === 'CREATE',
  concerns: kinds('certificates/certificatesigningrequests'),
  validate(request) {
    const { spec } = request.object as unknown as CertificateSigningRequest;
    if (request.subresource !== '' || spec.signerName !== identity.signers.apiserverClient) return;
    let organizations: readonly string[];
    try {
      organizations = parseRequest(Buffer.from(spec.request ?? '', 'base64').toString('utf8')).subject.organizations;
    } catch (error) {
      throw refusal(request, `failed to parse CSR: ${(error as Error).message}`);
    }
    if (organizations.includes(MASTERS)) throw refusal(request, `use of ${spec.signerName} signer with ${MASTERS} group is not allowed`);
  },
});
