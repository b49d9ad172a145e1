/** The rules of the built-in signers. A rule returns an error in the text of stock servers. */

import { own } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import { type CertificateRequest, type ExtendedUsage, extensionOids, type KeyUsage } from '@plat-dev/pki';
import { read, Tag } from '@plat-dev/pki/der';

type Rule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

const keyUsages: Readonly<Record<string, KeyUsage>> = {
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'contentCommitment',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'certSign',
  'crl sign': 'crlSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
};
const extendedUsages: Readonly<Record<string, ExtendedUsage>> = {
  any: 'any',
  'server auth': 'serverAuth',
  'client auth': 'clientAuth',
  'code signing': 'codeSigning',
  'email protection': 'emailProtection',
  's/mime': 'emailProtection',
  'ipsec end system': 'ipsecEndSystem',
  'ipsec tunnel': 'ipsecTunnel',
  'ipsec user': 'ipsecUser',
  timestamping: 'timestamping',
  'ocsp signing': 'ocspSigning',
  'microsoft sgc': 'microsoftSGC',
  'netscape sgc': 'netscapeSGC',
};

export interface CertificateUsages {
  readonly usages: readonly KeyUsage[];
  readonly extendedUsages: readonly ExtendedUsage[];
}

/** Usages by their names in the API. Throws an Error that names unknown ones. */
export function usagesOf(names: readonly string[]): CertificateUsages {
  const plain = new Set<KeyUsage>();
  const extended = new Set<ExtendedUsage>();
  const unknown: string[] = [];
  for (const name of names) {
    const [one, other] = [own(keyUsages, name), own(extendedUsages, name)];
    if (one !== undefined) plain.add(one);
    else if (other !== undefined) extended.add(other);
    else unknown.push(name);
  }
  if (unknown.length > 0) throw new Error(`unrecognized usage values: ${JSON.stringify(unknown)}`);
  return { usages: [...plain], extendedUsages: [...extended] };
}

const NODES = 'system:nodes';
const NODE_PREFIX = 'system:node:';

const nodeSubject: Rule = ({ subject: { commonName, organizations } }) => {
  if (organizations.length !== 1 || organizations[0] !== NODES) return `subject organization is not ${NODES}`;
  if (!commonName.startsWith(NODE_PREFIX)) return `subject common name does not begin with ${NODE_PREFIX}`;
  return undefined;
};
const noNames: Rule = ({ names }) => {
  if (names.dns.length > 0) return 'DNS subjectAltNames are not allowed';
  if (names.emails.length > 0) return 'email subjectAltNames are not allowed';
  if (names.addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return undefined;
};
const hostNames: Rule = ({ names }) => {
  if (names.dns.length === 0 && names.addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (names.emails.length > 0) return 'email subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return undefined;
};
const exactly = (...expectedUsages: string[]): Rule => {
  const all = new Set(expectedUsages);
  return (_request, usages) =>
    usages.length === all.size && usages.every((usage) => all.has(usage))
      ? undefined
      : `usages did not match [${expectedUsages.join(' ')}]`;
};
const clientUsages: Rule = (_request, usages) => {
  const allowed = new Set(['digital signature', 'key encipherment', 'client auth']);
  const other = usages.find((usage) => !allowed.has(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
};
/** A CA certificate could sign for any user. */
const noAuthority: Rule = ({ extensions }) => {
  const constraints = extensions.find(({ oid }) => oid === extensionOids.basicConstraints);
  if (constraints === undefined) return undefined;
  const [first] = read(constraints.value).as(Tag.sequence).children();
  return first?.tag === Tag.boolean && first.content[0] !== 0 ? 'the CA bit is not allowed' : undefined;
};

/** Rules by the name of the signer. */
export function signerRules({ signers }: Identity): ReadonlyMap<string, readonly Rule[]> {
  return new Map([
    [signers.apiserverClient, [clientUsages, noAuthority]],
    [
      signers.apiserverClientNodeagent,
      [nodeSubject, noNames, exactly('key encipherment', 'digital signature', 'client auth'), noAuthority],
    ],
    [signers.nodeagentServing, [nodeSubject, hostNames, exactly('key encipherment', 'digital signature', 'server auth'), noAuthority]],
    [signers.legacyUnknown, [noAuthority]],
  ]);
}

export function firstProblem(rules: readonly Rule[], request: CertificateRequest, usages: readonly string[]): string | undefined {
  for (const rule of rules) {
    const problem = rule(request, usages);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
