/** Flow schemas and priority levels of version 1beta3, which came with release 1.26. */
import { always, type Infer, int32, message, object, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1beta2 from './v1beta2.ts';

const version = 'flowcontrol.v1beta3';

export const FlowSchema = inVersion(v1beta2.FlowSchema, version);

const LimitedPriorityLevelConfiguration = message(`${version}.LimitedPriorityLevelConfiguration`, {
  nominalConcurrencyShares: always(1, int32, { default: 30 }),
  limitResponse: always(2, inVersion(v1beta2.LimitResponse, version)),
  lendablePercent: ptr(3, int32, { default: 0 }),
  borrowingLimitPercent: ptr(4, int32),
});

const PriorityLevelConfigurationSpec = message(`${version}.PriorityLevelConfigurationSpec`, {
  type: req(1, string),
  limited: ptr(2, LimitedPriorityLevelConfiguration),
});

export const PriorityLevelConfiguration = object(`${version}.PriorityLevelConfiguration`, {
  metadata: always(1, ObjectMeta),
  spec: always(2, PriorityLevelConfigurationSpec),
  status: always(3, inVersion(v1beta2.PriorityLevelConfigurationStatus, version)),
});
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
