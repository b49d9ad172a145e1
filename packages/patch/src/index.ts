/** Patches and field ownership: pure functions over objects, driven by their schemas. */
export { checkApplied } from './applied.ts';
export { appliedObject, apply } from './apply.ts';
export type { Applied, ApplyWrite } from './apply-write.ts';
export { mergedConfiguration } from './configuration.ts';
export { type ChangeOperation, jsonDiff } from './json-diff.ts';
export { isFailedTest, jsonPatch, type Patch, type PatchRules, readJsonPatch } from './json-patch.ts';
export { managerName, validateFieldManager } from './manager-name.ts';
export { differOnlyInTimes, MAX_MANAGERS, type ManagedFields, type ManagedFieldsEntry, managersAfterAdmission } from './managers.ts';
export { readMergePatch } from './merge-patch.ts';
export type { ReadBody } from './patch-body.ts';
export { type Convert, type OwnershipRules, recordedFields, recordUpdate, type Takeover, type UpdateWrite } from './record-update.ts';
export { objectManagers, viewManagers } from './scale.ts';
export { readStrategicPatch } from './strategic.ts';
export { PatchConflict, type ThreeWay, threeWayPatch, twoWayPatch } from './three-way.ts';
export { addUntouched, touchedPart } from './touched.ts';
