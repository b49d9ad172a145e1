/** Controller revisions. */
import { always, type Infer, int64, object, raw, req } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

export const ControllerRevision = object('apps.v1.ControllerRevision', {
  metadata: always(1, ObjectMeta),
  data: always(2, raw),
  revision: req(3, int64),
});
export type ControllerRevision = Infer<typeof ControllerRevision>;
