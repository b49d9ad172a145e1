/** The scale of a workload: a view that several kinds share. */
import { always, type Infer, int32, message, object, opt, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const ScaleSpec = message('autoscaling.v1.ScaleSpec', {
  replicas: opt(1, int32),
});

const ScaleStatus = message('autoscaling.v1.ScaleStatus', {
  replicas: req(1, int32),
  selector: opt(2, string),
});

export const Scale = object('autoscaling.v1.Scale', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ScaleSpec),
  status: always(3, ScaleStatus),
});
export type Scale = Infer<typeof Scale>;
