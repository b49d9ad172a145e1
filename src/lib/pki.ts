/** Keys, certificates, certificate requests and chains: all X.509 functions of the server. */
export * from './pki/certificate.ts';
export { canBeRoot, notAfterOf, readBundle, subjectOf } from './pki/contents.ts';
export { DerError } from './pki/der.ts';
export { type KeyFiles, keyDirectory, keysInMemory, readIfPresent, writeSecretFile } from './pki/files.ts';
export * from './pki/request.ts';
export { type Revoked, readRevoked } from './pki/revoked.ts';
export * from './pki/store.ts';
export type { Subject } from './pki/subject-names.ts';
export { extensionOids, noNames } from './pki/subject-names.ts';
