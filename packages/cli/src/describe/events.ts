/** The events at the end of a page. */
import type { Event } from '@plat-dev/kinds/core/schema/events';
import { ageAt } from '@plat-dev/meta/age';
import { timeMillis } from '@plat-dev/meta/time';
import type { Page } from './page.ts';
import type { ReadForm } from './values.ts';

/** Where nothing else is said the oldest comes first. */
export function writeEvents(page: Page, events: readonly ReadForm<Event>[], now: number): void {
  if (events.length === 0) {
    page.field('Events', '<none>');
    return;
  }
  const sorted = [...events].sort((a, b) => lastTime(a) - lastTime(b));
  page
    .heading('Events')
    .at(1)
    .table(
      ['Type', 'Reason', 'Age', 'From', 'Message'],
      sorted.map((event) => [
        event.type,
        event.reason,
        age(event, now),
        event.source?.component || event.reportingComponent,
        event.message?.trim(),
      ]),
      [4, 6, 4, 4, 7],
    );
}
const lastTime = ({ lastTimestamp }: ReadForm<Event>): number => (lastTimestamp === undefined ? 0 : timeMillis(lastTimestamp));

/** `5m`, or `2m (x7 over 1h)` for a repeated event. */
function age({ eventTime, firstTimestamp, lastTimestamp, count = 0, series }: ReadForm<Event>, now: number): string {
  const first = ageAt(now, eventTime ?? firstTimestamp);
  if (series !== undefined) return `${ageAt(now, series.lastObservedTime)} (x${series.count ?? 0} over ${first})`;
  return count > 1 ? `${ageAt(now, lastTimestamp)} (x${count} over ${first})` : first;
}
