/** Events of the events group and of the core group are the same objects under other names of fields. */
import { compact } from '../compact.ts';
import type * as core from '../core/schema/events.ts';
import type * as v1 from './schema/v1.ts';

export function toCore(event: v1.Event): core.Event {
  const { regarding, note, deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...rest } = event;
  const { reportingController, reportingInstance, ...same } = rest;
  return compact({
    ...same,
    involvedObject: regarding,
    message: note,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController ?? '',
    reportingInstance: reportingInstance ?? '',
  });
}

export function fromCore(event: core.Event): v1.Event {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } = event;
  const { reportingComponent, reportingInstance, series, ...same } = rest;
  return compact({
    ...same,
    series: series && { ...series, count: series.count ?? 0 },
    regarding: involvedObject,
    note: message,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    reportingController: reportingComponent || undefined,
    reportingInstance: reportingInstance || undefined,
  });
}
