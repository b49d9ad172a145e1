/** Rules that taint devices which match, whatever their driver says of them. */
import { always, type Infer, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import { DeviceSelector } from './claims.ts';
import { DeviceTaint } from './slices.ts';

const version = 'resource.v1alpha3';

const DeviceTaintSelector = message(`${version}.DeviceTaintSelector`, {
  deviceClassName: ptr(1, string, { until: '1.34' }),
  driver: ptr(2, string),
  pool: ptr(3, string),
  device: ptr(4, string),
  selectors: opt(5, list(inVersion(DeviceSelector, version)), { until: '1.34' }),
});
export type DeviceTaintSelector = Infer<typeof DeviceTaintSelector>;

const DeviceTaintRuleSpec = message(`${version}.DeviceTaintRuleSpec`, {
  deviceSelector: ptr(1, DeviceTaintSelector),
  taint: req(2, inVersion(DeviceTaint, version)),
});

const DeviceTaintRuleStatus = message(`${version}.DeviceTaintRuleStatus`, {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const DeviceTaintRule = object(`${version}.DeviceTaintRule`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, DeviceTaintRuleSpec),
  status: always(3, DeviceTaintRuleStatus, { since: '1.35' }),
});
export type DeviceTaintRule = Infer<typeof DeviceTaintRule>;

/** From release 1.36 on. */
export const DeviceTaintRuleV1beta2 = inVersion(DeviceTaintRule, 'resource.v1beta2');
