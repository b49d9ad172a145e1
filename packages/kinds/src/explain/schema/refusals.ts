/** Requests that were refused lately. */
import { always, type Infer, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { NonResourceAttributes, ResourceAttributes } from '../../authorization/schema/v1.ts';
import { ObjectMeta } from '../../meta.ts';

const RefusalSearchSpec = message('explain.v1alpha1.RefusalSearchSpec', {
  auditID: opt(1, string),
  user: opt(2, string),
});

const Refusal = message('explain.v1alpha1.Refusal', {
  auditID: req(1, string),
  time: req(2, time),
  resourceAttributes: ptr(3, ResourceAttributes),
  nonResourceAttributes: ptr(4, NonResourceAttributes),
});

const RefusalSearchStatus = message('explain.v1alpha1.RefusalSearchStatus', {
  refusals: opt(1, list(Refusal)),
});

export const RefusalSearch = object('explain.v1alpha1.RefusalSearch', {
  metadata: always(1, ObjectMeta),
  spec: always(2, RefusalSearchSpec),
  status: always(3, RefusalSearchStatus),
});
export type RefusalSearch = Infer<typeof RefusalSearch>;
