/** Patches and field ownership: pure functions over objects, driven by their schemas. */
export { managerName, validateFieldManager } from './manager-name.ts';
export { isReset, type ManagedFields, type ManagedFieldsEntry } from './managers.ts';
export { type Convert, recordUpdate, type UpdateWrite, type Write } from './record-update.ts';
export { sameApartFromTimes } from './unchanged.ts';
