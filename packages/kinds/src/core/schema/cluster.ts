/** Smaller kinds of the core group, some of which occur only inside others. */
import { always, bytes, type Infer, list, message, object, opt, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { ObjectReference } from './references.ts';

export const Binding = object('core.v1.Binding', {
  metadata: always(1, ObjectMeta),
  target: req(2, ObjectReference),
});
export type Binding = Infer<typeof Binding>;

const ComponentCondition = message('core.v1.ComponentCondition', {
  type: req(1, string),
  status: req(2, string),
  message: opt(3, string),
  error: opt(4, string),
});

export const ComponentStatus = object('core.v1.ComponentStatus', {
  metadata: always(1, ObjectMeta),
  conditions: opt(2, list(ComponentCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});
export type ComponentStatus = Infer<typeof ComponentStatus>;

export const RangeAllocation = object('core.v1.RangeAllocation', {
  metadata: always(1, ObjectMeta),
  range: always(2, string),
  data: always(3, bytes),
});
export type RangeAllocation = Infer<typeof RangeAllocation>;

export const SerializedReference = object('core.v1.SerializedReference', {
  reference: always(1, ObjectReference),
});
export type SerializedReference = Infer<typeof SerializedReference>;
