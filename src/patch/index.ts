/** Patches and field ownership: pure functions over objects, driven by their schemas. */
export { jsonPatch, type Patch, readJsonPatch } from './json-patch.ts';
export { managerName, validateFieldManager } from './manager-name.ts';
export { isReset, type ManagedFields, type ManagedFieldsEntry } from './managers.ts';
export { readMergePatch } from './merge-patch.ts';
export { type Convert, recordUpdate, type UpdateWrite, type Write } from './record-update.ts';
export { readStrategicPatch } from './strategic.ts';
export { sameApartFromTimes } from './unchanged.ts';
