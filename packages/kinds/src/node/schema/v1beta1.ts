/** Runtime classes as version 1beta1 shows them: the same fields. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const RuntimeClass = inVersion(v1.RuntimeClass, 'node.v1beta1');
export type RuntimeClass = Infer<typeof RuntimeClass>;
