/** Kinds of version 1beta1: the same fields. Only CSIStorageCapacity is served. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const CSIDriver = inVersion(v1.CSIDriver, 'storage.v1beta1');
export type CSIDriver = Infer<typeof CSIDriver>;

export const CSINode = inVersion(v1.CSINode, 'storage.v1beta1');
export type CSINode = Infer<typeof CSINode>;

export const CSIStorageCapacity = inVersion(v1.CSIStorageCapacity, 'storage.v1beta1');
export type CSIStorageCapacity = Infer<typeof CSIStorageCapacity>;

export const StorageClass = inVersion(v1.StorageClass, 'storage.v1beta1');
export type StorageClass = Infer<typeof StorageClass>;

export const VolumeAttachment = inVersion(v1.VolumeAttachment, 'storage.v1beta1');
export type VolumeAttachment = Infer<typeof VolumeAttachment>;
