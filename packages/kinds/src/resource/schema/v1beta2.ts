/** Claims, templates, slices and classes as version 1beta2 shows them: the fields of version 1. */
import { inVersion } from '../../versions.ts';
import * as claims from './claims.ts';
import * as slices from './slices.ts';

const version = 'resource.v1beta2';

export const DeviceClass = inVersion(claims.DeviceClass, version);
export const ResourceClaim = inVersion(claims.ResourceClaim, version);
export const ResourceClaimTemplate = inVersion(claims.ResourceClaimTemplate, version);
export const ResourceSlice = inVersion(slices.ResourceSlice, version);
