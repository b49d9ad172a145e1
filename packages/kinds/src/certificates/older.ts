/** certificates/v1beta1. */

import type { Identity } from '@plat-dev/meta/identity';
import { parseRequest } from '@plat-dev/pki';
import { version } from '../kind.ts';
import type { OlderVersions } from '../older.ts';
import type * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

const nodeClient = ['client auth', 'digital signature', 'key encipherment'];
const nodeServing = ['digital signature', 'key encipherment', 'server auth'];

/** The default signer of a request: that of client or serving certificates of node agents if the request matches one. */
function signerOf(pem: string, usages: readonly string[], { signers }: Identity): string {
  let request: ReturnType<typeof parseRequest>;
  try {
    request = parseRequest(pem);
  } catch {
    return signers.legacyUnknown;
  }
  const { subject, names } = request;
  const isNode = subject.organizations.join() === 'system:nodes' && subject.commonName.startsWith('system:node:');
  const hasHosts = names.dns.length > 0 || names.addresses.length > 0;
  const hasOthers = names.emails.length > 0 || names.uris.length > 0;
  const asks = (expectedUsages: readonly string[]): boolean => [...new Set(usages)].sort().join() === expectedUsages.join();
  if (!isNode || hasOthers) return signers.legacyUnknown;
  if (!hasHosts && asks(nodeClient)) return signers.apiserverClientNodeagent;
  return hasHosts && asks(nodeServing) ? signers.nodeagentServing : signers.legacyUnknown;
}

export const olderCertificates: readonly OlderVersions[] = [
  {
    group: 'certificates',
    plural: 'certificatesigningrequests',
    versions: {
      v1beta1: version<v1beta1.CertificateSigningRequest, v1.CertificateSigningRequest>({
        schema: v1beta1.CertificateSigningRequest,
        defaults({ spec, status }, { identity }) {
          spec.usages ??= ['digital signature', 'key encipherment'];
          spec.signerName ??= signerOf(Buffer.from(spec.request ?? '', 'base64').toString('latin1'), spec.usages, identity);
          for (const condition of status.conditions ?? []) if (condition.status === '') condition.status = 'True';
        },
        toHub: (request) => ({
          ...request,
          spec: request.spec === undefined ? request.spec : { ...request.spec, signerName: request.spec.signerName ?? '' },
        }),
      }),
    },
  },
];
