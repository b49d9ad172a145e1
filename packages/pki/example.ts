import { X509Certificate } from 'node:crypto';
import { issueClient, newAuthority, readAuthority } from '@plat-dev/pki';

const now = Date.UTC(2024, 0, 1);
const authority = newAuthority('example-ca', now);
const alice = issueClient(readAuthority(authority), 'alice', ['developers'], now, 30);

const certificate = new X509Certificate(alice.certificate);
console.log(certificate.subject.split('\n'));
console.log(certificate.checkIssued(new X509Certificate(authority.certificate)), certificate.validTo);
