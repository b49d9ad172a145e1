/** Requests for and limits of compute resources. */
import { type Infer, map, message, opt, quantity } from '@plat-dev/schema/types';

export const ResourceRequirements = message('core.v1.ResourceRequirements', {
  limits: opt(1, map(quantity)),
  requests: opt(2, map(quantity)),
});
export type ResourceRequirements = Infer<typeof ResourceRequirements>;

/** Requests for and limits of storage. */
export const VolumeResourceRequirements = message('core.v1.VolumeResourceRequirements', {
  limits: opt(1, map(quantity)),
  requests: opt(2, map(quantity)),
});
export type VolumeResourceRequirements = Infer<typeof VolumeResourceRequirements>;
