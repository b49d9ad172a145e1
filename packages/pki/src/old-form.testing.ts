/** Certificates of version 1, which have no extensions, as some old CAs are. */
import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { type Issued, newAuthority, toPem } from './certificate.ts';
import { bits, read, sequence } from './der.ts';

/** An authority that signed itself, in version 1. */
export function oldAuthority(commonName: string, now: number): Issued {
  const { certificate, key } = newAuthority(commonName, now);
  const fields =
    read(Buffer.from(new X509Certificate(certificate).raw))
      .children()[0]
      ?.children() ?? [];
  // Neither the version, which is explicit from 2 on, nor the extensions.
  const body = sequence(...fields.filter(({ tag }) => tag !== 0xa0 && tag !== 0xa3).map(({ raw }) => raw));
  const algorithm = fields[2]?.raw as Buffer;
  return { certificate: toPem('CERTIFICATE', sequence(body, algorithm, bits(sign('sha256', body, createPrivateKey(key))))), key };
}
