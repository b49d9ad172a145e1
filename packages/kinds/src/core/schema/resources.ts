/** Requests for and limits of compute resources. */
import { type Infer, list, map, message, opt, quantity, req, string } from '@plat-dev/schema/types';

const ResourceClaim = message('core.v1.ResourceClaim', {
  name: req(1, string),
  request: opt(2, string, { since: '1.31' }),
});

export const ResourceRequirements = message('core.v1.ResourceRequirements', {
  limits: opt(1, map(quantity)),
  requests: opt(2, map(quantity)),
  claims: opt(3, list(ResourceClaim, 'map', ['name']), { since: '1.26', gate: 'DynamicResourceAllocation' }),
});
export type ResourceRequirements = Infer<typeof ResourceRequirements>;

/** Requests for and limits of storage. */
export const VolumeResourceRequirements = message('core.v1.VolumeResourceRequirements', {
  limits: opt(1, map(quantity)),
  requests: opt(2, map(quantity)),
});
export type VolumeResourceRequirements = Infer<typeof VolumeResourceRequirements>;
