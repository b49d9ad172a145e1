/** Priority classes. */
import { always, bool, type Infer, int32, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { pointerValues } from '../../published-values.ts';

export const PriorityClass = object('scheduling.v1.PriorityClass', {
  metadata: always(1, ObjectMeta),
  value: req(2, int32, { from: { '1.36': { required: false } } }),
  globalDefault: opt(3, bool),
  description: opt(4, string),
  preemptionPolicy: ptr(5, string, { default: 'PreemptLowerPriority', ...pointerValues('Never', 'PreemptLowerPriority') }),
});
export type PriorityClass = Infer<typeof PriorityClass>;
