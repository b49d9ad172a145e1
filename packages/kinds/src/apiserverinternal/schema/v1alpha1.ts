/** Storage versions. */
import { always, type Infer, int64, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const requiredLater = { from: { '1.36': { required: true } } } as const;
export const ServerStorageVersion = message('apiserverinternal.v1alpha1.ServerStorageVersion', {
  apiServerID: opt(1, string, requiredLater),
  encodingVersion: opt(2, string, requiredLater),
  decodableVersions: opt(3, list(string, 'set'), requiredLater),
  servedVersions: opt(4, list(string, 'set'), { since: '1.28' }),
});
export type ServerStorageVersion = Infer<typeof ServerStorageVersion>;

const StorageVersionSpec = message('apiserverinternal.v1alpha1.StorageVersionSpec', {});

const StorageVersionCondition = message('apiserverinternal.v1alpha1.StorageVersionCondition', {
  type: req(1, string),
  status: req(2, string),
  observedGeneration: opt(3, int64),
  lastTransitionTime: always(4, time),
  reason: req(5, string),
  message: opt(6, string, { from: { '1.30': { required: true } } }),
});

export const StorageVersionStatus = message('apiserverinternal.v1alpha1.StorageVersionStatus', {
  storageVersions: opt(1, list(ServerStorageVersion, 'map', ['apiServerID'])),
  commonEncodingVersion: ptr(2, string),
  conditions: opt(3, list(StorageVersionCondition, 'map', ['type'])),
});
export type StorageVersionStatus = Infer<typeof StorageVersionStatus>;

export const StorageVersion = object('apiserverinternal.v1alpha1.StorageVersion', {
  metadata: always(1, ObjectMeta, requiredLater),
  spec: req(2, StorageVersionSpec, { from: { '1.36': { required: false } } }),
  status: req(3, StorageVersionStatus, { from: { '1.36': { required: false } } }),
});
export type StorageVersion = Infer<typeof StorageVersion>;
