/** Certificate signing requests. */
import type { CertificateSigningRequest } from '@plat-dev/kinds/certificates/schema/v1';
import { humanDuration } from '@plat-dev/meta/age';
import { formatIP, parseIP } from '@plat-dev/meta/ip';
import { read } from '@plat-dev/pki/der';
import { parseRequest } from '@plat-dev/pki/request';
import { decodeTexts, isEmpty } from '@plat-dev/pki/subject-names';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { type Described, labelsText, longTime } from './values.ts';

/** Parts of a subject after its name and number, with the identifiers that they have in certificates. */
const parts = [
  ['Organization', '2.5.4.10'],
  ['Organizational Unit', '2.5.4.11'],
  ['Country', '2.5.4.6'],
  ['Locality', '2.5.4.7'],
  ['Province', '2.5.4.8'],
  ['StreetAddress', '2.5.4.9'],
  ['PostalCode', '2.5.4.17'],
] as const;

export const describeCertificateRequest: Describer<CertificateSigningRequest> = {
  versions: ['v1', 'v1beta1'],
  async write(page, request) {
    const { metadata, spec = {} } = request;
    const { subjectBytes, names } = parsed(spec.request);
    page.field('Name', metadata.name).field('Labels', labelsText(metadata.labels)).field('Annotations', labelsText(metadata.annotations));
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp)).field('Requesting User', spec.username);
    page.fieldIfSet('Signer', spec.signerName);
    if (spec.expirationSeconds !== undefined) page.field('Requested Duration', humanDuration(spec.expirationSeconds * 1000));
    page.field('Status', statusText(request)).heading('Subject');
    const subject = decodeTexts(read(subjectBytes));
    page.line('', 'Common Name:', subject.get('2.5.4.3')?.at(-1)).line('', 'Serial Number:', subject.get('2.5.4.5')?.at(-1));
    for (const [label, id] of parts) writeValues(page, label, subject.get(id));
    if (isEmpty(names)) return;
    page.heading('Subject Alternative Names');
    writeValues(page, 'DNS Names', names.dns);
    writeValues(page, 'Email Addresses', names.emails);
    writeValues(page, 'URIs', names.uris);
    writeValues(page, 'IP Addresses', names.addresses.map(shortAddress));
  },
};

function parsed(request = '') {
  try {
    return parseRequest(Buffer.from(request, 'base64').toString());
  } catch (error) {
    throw new Error(`Error parsing CSR: ${(error as Error).message}`);
  }
}
/** `::1` */
function shortAddress(text: string): string {
  const bytes = parseIP(text);
  return bytes === undefined ? text : formatIP(bytes);
}
function writeValues(page: Page, label: string, values: readonly string[] = []): void {
  values.forEach((value, i) => {
    page.line('', i === 0 ? `${label}:` : '', value);
  });
}

/** `Approved,Issued`. */
function statusText({ status = {} }: Described<CertificateSigningRequest>): string {
  const types = new Set(status.conditions?.map(({ type }) => type));
  const decided = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return `${decided}${types.has('Failed') ? ',Failed' : ''}${(status.certificate ?? '') === '' ? '' : ',Issued'}`;
}
