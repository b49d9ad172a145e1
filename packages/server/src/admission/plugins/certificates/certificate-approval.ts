/** CertificateApproval: approving a certificate request needs the verb `approve` on its signer. */
import type { CertificateSigningRequest } from '@plat-dev/kinds/certificates/schema/v1';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import { mayForSigner } from './signers.ts';

export const certificateApproval: MakePlugin = (env) => ({
  name: 'CertificateApproval',
  handles: (operation) => operation === 'UPDATE',
  concerns: kinds('certificates/certificatesigningrequests'),
  async validate(request) {
    if (request.subresource !== 'approval') return;
    const { signerName } = (request.object as unknown as CertificateSigningRequest).spec;
    if (await mayForSigner(env, request.user, 'approve', signerName)) return;
    throw refusal(request, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`);
  },
});
