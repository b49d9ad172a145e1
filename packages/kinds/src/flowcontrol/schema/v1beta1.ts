/** Flow schemas and priority levels as version 1beta1 shows them: the same fields. */
import type { Infer } from '@plat-dev/schema/types';
import { inVersion } from '../../versions.ts';
import * as v1beta2 from './v1beta2.ts';

export const FlowSchema = inVersion(v1beta2.FlowSchema, 'flowcontrol.v1beta1');
export type FlowSchema = Infer<typeof FlowSchema>;

export const PriorityLevelConfiguration = inVersion(v1beta2.PriorityLevelConfiguration, 'flowcontrol.v1beta1');
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
