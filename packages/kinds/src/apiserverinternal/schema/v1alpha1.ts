/** Storage versions. */
import { always, type Infer, int64, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

export const ServerStorageVersion = message('apiserverinternal.v1alpha1.ServerStorageVersion', {
  apiServerID: opt(1, string),
  encodingVersion: opt(2, string),
  decodableVersions: opt(3, list(string, 'set')),
});
export type ServerStorageVersion = Infer<typeof ServerStorageVersion>;

const StorageVersionSpec = message('apiserverinternal.v1alpha1.StorageVersionSpec', {});

const StorageVersionCondition = message('apiserverinternal.v1alpha1.StorageVersionCondition', {
  type: req(1, string),
  status: req(2, string),
  observedGeneration: opt(3, int64),
  lastTransitionTime: always(4, time),
  reason: req(5, string),
  message: opt(6, string),
});

export const StorageVersionStatus = message('apiserverinternal.v1alpha1.StorageVersionStatus', {
  storageVersions: opt(1, list(ServerStorageVersion, 'map', ['apiServerID'])),
  commonEncodingVersion: ptr(2, string),
  conditions: opt(3, list(StorageVersionCondition, 'map', ['type'])),
});
export type StorageVersionStatus = Infer<typeof StorageVersionStatus>;

export const StorageVersion = object('apiserverinternal.v1alpha1.StorageVersion', {
  metadata: always(1, ObjectMeta),
  spec: req(2, StorageVersionSpec),
  status: req(3, StorageVersionStatus),
});
export type StorageVersion = Infer<typeof StorageVersion>;
