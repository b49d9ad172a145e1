/** Keys, certificates, certificate requests and chains: all X.509 functions of the server. */
export * from './certificate.ts';
export { canBeRoot, notAfterOf, readBundle, subjectOf } from './contents.ts';
export { DerError } from './der.ts';
export { type KeyFiles, keyDirectory, keysInMemory, readIfPresent, writeSecretFile } from './files.ts';
export * from './request.ts';
export { type Revoked, readRevoked } from './revoked.ts';
export * from './store.ts';
export type { Subject } from './subject-names.ts';
export { extensionOids, noNames } from './subject-names.ts';
