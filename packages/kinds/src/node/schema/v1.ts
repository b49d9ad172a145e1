/** Runtime classes. */
import { always, type Infer, list, map, message, object, opt, ptr, quantity, req, string } from '@plat-dev/schema/types';
import { Toleration } from '../../core/schema/pods/scheduling.ts';
import { ObjectMeta } from '../../meta.ts';

export const Overhead = message('node.v1.Overhead', {
  podFixed: opt(1, map(quantity)),
});
export type Overhead = Infer<typeof Overhead>;

export const Scheduling = message('node.v1.Scheduling', {
  nodeSelector: opt(1, map(string, { atomic: true })),
  tolerations: opt(2, list(Toleration)),
});
export type Scheduling = Infer<typeof Scheduling>;

export const RuntimeClass = object('node.v1.RuntimeClass', {
  metadata: always(1, ObjectMeta),
  handler: req(2, string),
  overhead: ptr(3, Overhead),
  scheduling: ptr(4, Scheduling),
});
export type RuntimeClass = Infer<typeof RuntimeClass>;
