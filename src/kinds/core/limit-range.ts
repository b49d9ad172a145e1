/** Limit ranges. */
import { kind } from '../kind.ts';
import { LimitRange } from './schema/quota.ts';

export const LimitRangeKind = kind<LimitRange>({
  group: '',
  kind: 'LimitRange',
  plural: 'limitranges',
  short: ['limits'],
  scope: 'Namespaced',
  versions: { v1: { schema: LimitRange } },
  hub: 'v1',
  createOnUpdate: true,
});
