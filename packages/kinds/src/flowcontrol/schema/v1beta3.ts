/** Flow schemas and priority levels of version 1beta3, which came with release 1.26, and of version 1, which came with 1.29. */
import { always, type Infer, int32, message, object, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1beta2 from './v1beta2.ts';

/** The shares of a level have another name than in the version before. Version 1 knows whether they were set to 0. */
function levelIn(version: string, shares: { readonly nullable?: true }) {
  const limited = message(`${version}.LimitedPriorityLevelConfiguration`, {
    nominalConcurrencyShares: always(1, int32, { ...shares, default: 30 }),
    limitResponse: always(2, inVersion(v1beta2.LimitResponse, version)),
    lendablePercent: ptr(3, int32, { default: 0 }),
    borrowingLimitPercent: ptr(4, int32),
  });
  const spec = message(`${version}.PriorityLevelConfigurationSpec`, {
    type: req(1, string),
    limited: ptr(2, limited),
    exempt: ptr(3, inVersion(v1beta2.ExemptPriorityLevelConfiguration, version), { since: '1.28' }),
  });
  return object(`${version}.PriorityLevelConfiguration`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, spec),
    status: always(3, inVersion(v1beta2.PriorityLevelConfigurationStatus, version)),
  });
}

export const FlowSchema = inVersion(v1beta2.FlowSchema, 'flowcontrol.v1beta3');
export const PriorityLevelConfiguration = levelIn('flowcontrol.v1beta3', {});
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;

export const FlowSchemaV1 = inVersion(v1beta2.FlowSchema, 'flowcontrol.v1');
export const PriorityLevelConfigurationV1 = levelIn('flowcontrol.v1', { nullable: true });
