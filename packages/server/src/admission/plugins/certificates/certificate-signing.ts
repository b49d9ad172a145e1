/** CertificateSigning: setting the certificate of a request needs the verb `sign` on its signer. */
import type { CertificateSigningRequest } from '@plat-dev/kinds/certificates/schema/v1';
import { equal } from '@plat-dev/lib/equal';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import { mayForSigner } from './signers.ts';

export const certificateSigning: MakePlugin = (env) => ({
  name: 'CertificateSigning',
  handles: (operation) => operation === 'UPDATE',
  concerns: kinds('certificates/certificatesigningrequests'),
  async validate(request) {
    if (request.subresource !== 'status') return;
    const csr = request.object as unknown as CertificateSigningRequest;
    const old = request.oldObject as unknown as CertificateSigningRequest;
    if (csr.status.certificate === old.status.certificate && equal(csr.status.conditions, old.status.conditions)) return;
    const { signerName } = old.spec;
    if (await mayForSigner(env, request.user, 'sign', signerName)) return;
    throw refusal(request, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`);
  },
});
