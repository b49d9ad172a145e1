/** Priority classes. */
import { always, bool, type Infer, int32, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

export const PriorityClass = object('scheduling.v1.PriorityClass', {
  metadata: always(1, ObjectMeta),
  value: req(2, int32),
  globalDefault: opt(3, bool),
  description: opt(4, string),
  preemptionPolicy: ptr(5, string, { default: 'PreemptLowerPriority' }),
});
export type PriorityClass = Infer<typeof PriorityClass>;
