/** Events of an object as rows, newest first. */
import type { ApiObject } from '../../../api/objects.ts';
import { numberAt, textAt } from '../../../api/values.ts';

export interface EventRow {
  readonly uid: string;
  readonly isWarning: boolean;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source: string;
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
}

export function eventRows(events: Iterable<ApiObject>): EventRow[] {
  return [...events].map(rowOf).sort((one, other) => timeOf(other) - timeOf(one));
}

function rowOf(event: ApiObject): EventRow {
  const created = event.metadata.creationTimestamp;
  const firstTime = textAt(event, 'firstTimestamp') || textAt(event, 'eventTime') || created;
  const type = textAt(event, 'type') || 'Normal';
  return {
    uid: event.metadata.uid,
    isWarning: type !== 'Normal',
    type,
    reason: textAt(event, 'reason'),
    message: textAt(event, 'message'),
    source: textAt(event, 'reportingComponent') || textAt(event, 'source', 'component'),
    count: numberAt(event, 'series', 'count') ?? numberAt(event, 'count') ?? 1,
    firstTime,
    lastTime: textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp') || firstTime,
  };
}

const timeOf = ({ lastTime }: EventRow): number => Date.parse(lastTime) || 0;
