/** What claims, classes and their allocations share. */
import { type Infer, int64, message, opt, ptr, raw, req, string } from '@plat-dev/schema/types';

const effects = ['NoSchedule', 'NoExecute'];
/** The effects of taints. */
export const taintEffects = { enum: effects, from: { '1.35': { enum: ['None', ...effects] } } } as const;

const OpaqueDeviceConfiguration = message('resource.v1.OpaqueDeviceConfiguration', {
  driver: req(1, string),
  parameters: req(2, raw),
});

export const DeviceConfiguration = message('resource.v1.DeviceConfiguration', {
  opaque: ptr(1, OpaqueDeviceConfiguration),
});
export type DeviceConfiguration = Infer<typeof DeviceConfiguration>;

export const DeviceToleration = message('resource.v1.DeviceToleration', {
  key: opt(1, string),
  operator: opt(2, string, { default: 'Equal', enum: ['Exists', 'Equal'] }),
  value: opt(3, string),
  effect: opt(4, string, taintEffects),
  tolerationSeconds: ptr(5, int64),
});
export type DeviceToleration = Infer<typeof DeviceToleration>;
