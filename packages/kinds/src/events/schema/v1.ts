/** Events as the events group shows them. */
import { always, type Infer, int32, message, microTime, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { EventSource } from '../../core/schema/events.ts';
import { ObjectReference } from '../../core/schema/references.ts';
import { ObjectMeta } from '../../meta.ts';

const EventSeries = message('events.v1.EventSeries', {
  count: req(1, int32),
  lastObservedTime: req(2, microTime),
});

export const Event = object('events.v1.Event', {
  metadata: always(1, ObjectMeta),
  eventTime: req(2, microTime),
  series: ptr(3, EventSeries),
  reportingController: opt(4, string),
  reportingInstance: opt(5, string),
  action: opt(6, string),
  reason: opt(7, string),
  regarding: always(8, ObjectReference),
  related: ptr(9, ObjectReference),
  note: opt(10, string),
  type: opt(11, string),
  deprecatedSource: always(12, EventSource),
  deprecatedFirstTimestamp: always(13, time),
  deprecatedLastTimestamp: always(14, time),
  deprecatedCount: opt(15, int32),
});
export type Event = Infer<typeof Event>;
