/** Events. */
import { always, type Infer, int32, message, microTime, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { ObjectReference } from './references.ts';

const EventSeries = message('core.v1.EventSeries', {
  count: opt(1, int32),
  lastObservedTime: always(2, microTime),
});

export const EventSource = message('core.v1.EventSource', {
  component: opt(1, string),
  host: opt(2, string),
});
export type EventSource = Infer<typeof EventSource>;

export const Event = object('core.v1.Event', {
  metadata: req(1, ObjectMeta),
  involvedObject: req(2, ObjectReference),
  reason: opt(3, string),
  message: opt(4, string),
  source: always(5, EventSource),
  firstTimestamp: always(6, time),
  lastTimestamp: always(7, time),
  count: opt(8, int32),
  type: opt(9, string),
  eventTime: always(10, microTime),
  series: ptr(11, EventSeries),
  action: opt(12, string),
  related: ptr(13, ObjectReference),
  reportingComponent: always(14, string),
  reportingInstance: always(15, string),
});
export type Event = Infer<typeof Event>;
