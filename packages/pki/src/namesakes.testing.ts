/** Certificates of servers that bear the name of their CA, in the forms of Knative and Pepr. */
import { generateKeyPairSync } from 'node:crypto';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import type { KeyPair } from './certificate.ts';
import { constraints, extendedUsage, type Form, type Made, makeCertificate, names, usage } from './made.testing.ts';

export interface Namesakes {
  readonly authority: Made;
  readonly server: Made;
}

export const strongKeys = rsaKeys(0);
export const otherStrongKeys = rsaKeys(1);
export const weakKeys: KeyPair = generateKeyPairSync('rsa', { modulusLength: 1024 });

const KNATIVE = { organizations: ['knative.dev'] };
export const knativeAuthority = (dns: string, changes: Partial<Form> = {}): Made =>
  makeCertificate({
    ...KNATIVE,
    name: dns,
    keys: strongKeys,
    extensions: [usage('digitalSignature', 'certSign'), extendedUsage('serverAuth', 'clientAuth'), constraints(true), names([dns])],
    ...changes,
  });
export const knativeServer = (authority: Made, dns: string, changes: Partial<Form> = {}): Made =>
  makeCertificate({
    ...KNATIVE,
    name: dns,
    issuer: authority,
    keys: otherStrongKeys,
    extensions: [usage('digitalSignature'), extendedUsage('serverAuth'), constraints(false), names([dns])],
    hasKeyIds: false,
    ...changes,
  });

/** CA and certificate have one name, the CA alone a key identifier. */
export function knative(dns: string): Namesakes {
  const authority = knativeAuthority(dns);
  return { authority, server: knativeServer(authority, dns) };
}

/** Neither has a name, and the CA names an issuer that does not exist. */
export function pepr(dns: string): Namesakes {
  const authority = makeCertificate({
    name: '',
    issuerName: 'Pepr Ephemeral CA',
    keys: strongKeys,
    extensions: [constraints(true), usage('digitalSignature', 'keyEncipherment', 'certSign')],
    hasKeyIds: false,
  });
  const server = makeCertificate({
    name: '',
    issuer: authority,
    keys: otherStrongKeys,
    extensions: [names([dns])],
    hasKeyIds: false,
  });
  return { authority, server };
}
