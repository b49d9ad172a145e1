/** Leases. */
import { always, type Infer, int32, message, microTime, object, ptr, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const LeaseSpec = message('coordination.v1.LeaseSpec', {
  holderIdentity: ptr(1, string),
  leaseDurationSeconds: ptr(2, int32),
  acquireTime: ptr(3, microTime),
  renewTime: ptr(4, microTime),
  leaseTransitions: ptr(5, int32),
  strategy: ptr(6, string, { since: '1.31' }),
  preferredHolder: ptr(7, string, { since: '1.31' }),
});

export const Lease = object('coordination.v1.Lease', {
  metadata: always(1, ObjectMeta),
  spec: always(2, LeaseSpec),
});
export type Lease = Infer<typeof Lease>;
