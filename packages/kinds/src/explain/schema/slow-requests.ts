/** Requests that took long. */
import { always, bool, double, type Infer, int32, list, message, object, opt, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const SlowRequestSearchSpec = message('explain.v1alpha1.SlowRequestSearchSpec', {
  allUsers: opt(1, bool),
});

const TimedStep = message('explain.v1alpha1.TimedStep', {
  name: req(1, string),
  webhook: opt(2, string),
  milliseconds: req(3, double),
});

const SlowRequest = message('explain.v1alpha1.SlowRequest', {
  auditID: req(1, string),
  time: req(2, time),
  user: req(3, string),
  method: req(4, string),
  path: req(5, string),
  code: req(6, int32),
  milliseconds: req(7, double),
  steps: opt(8, list(TimedStep)),
});

const SlowRequestSearchStatus = message('explain.v1alpha1.SlowRequestSearchStatus', {
  requests: opt(1, list(SlowRequest)),
});

export const SlowRequestSearch = object('explain.v1alpha1.SlowRequestSearch', {
  metadata: always(1, ObjectMeta),
  spec: always(2, SlowRequestSearchSpec),
  status: always(3, SlowRequestSearchStatus),
});
export type SlowRequestSearch = Infer<typeof SlowRequestSearch>;
