/** Events as the API has them, in either of their forms. */
import type { ApiObject } from '../../api/objects.ts';

export interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string; readonly count?: number };
  readonly involvedObject: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

export function lastSeen({ series, lastTimestamp, eventTime, metadata }: EventObject): string {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
}

export const timesSeen = ({ series, count }: EventObject): number => series?.count ?? count ?? 1;

export function newestEvents(events: Iterable<EventObject>, maximum: number): EventObject[] {
  return [...events].sort((one, other) => Date.parse(lastSeen(other)) - Date.parse(lastSeen(one))).slice(0, maximum);
}
