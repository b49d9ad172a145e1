/** Runtime classes of version 1alpha1, which have a specification. */
import { always, type Infer, message, object, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const version = 'node.v1alpha1';

const RuntimeClassSpec = message(`${version}.RuntimeClassSpec`, {
  runtimeHandler: req(1, string),
  overhead: ptr(2, inVersion(v1.Overhead, version)),
  scheduling: ptr(3, inVersion(v1.Scheduling, version)),
});

export const RuntimeClass = object(`${version}.RuntimeClass`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, RuntimeClassSpec),
});
export type RuntimeClass = Infer<typeof RuntimeClass>;
