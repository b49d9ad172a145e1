/** Keys, certificates, certificate requests and chains: everything about X.509 that the service needs. */
export * from './pki/certificate.ts';
export { DerError } from './pki/der.ts';
export { type KeyFiles, keyDirectory, keysInMemory, readIfPresent, writeSecretFile } from './pki/files.ts';
export * from './pki/request.ts';
export { type Revoked, readRevoked } from './pki/revoked.ts';
export * from './pki/store.ts';
export type { AlternativeNames, Extension, Subject } from './pki/subject-names.ts';
export { extensionOids, noNames } from './pki/subject-names.ts';
export * from './pki/verify.ts';
