/** Events as version 1beta1 of the events group shows them: the same fields. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const Event = inVersion(v1.Event, 'events.v1beta1');
export type Event = Infer<typeof Event>;
