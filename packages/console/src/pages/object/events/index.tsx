/** The events about the object, live. */

import type { Kind, ObjectReference } from '../../../api/kinds.ts';
import { Objects } from '../../../api/objects.ts';
import { useConsole } from '../../../app/console.ts';
import { useLiveObject } from '../../../app/live-object.ts';
import { useOpened } from '../../../app/use.ts';
import { Badge } from '../../../parts/badge.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { Text } from '../../../parts/text.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { type EventRow, eventRows } from './event-rows.ts';

/** More are not kept. */
const MOST_EVENTS = 1000;

export default function EventsTab() {
  const { discovery } = useConsole();
  const { reference } = useLiveObject();
  const kind = discovery.find({ group: '', version: 'v1', resource: 'events' });
  return kind === undefined ? <Progress /> : <Events kind={kind} object={reference} />;
}

function Events({ kind, object }: { readonly kind: Kind; readonly object: ObjectReference }) {
  const { api, watches, clock } = useConsole();
  const fieldSelector = `involvedObject.kind=${object.kind.kind},involvedObject.name=${object.name}`;
  const events = useOpened(
    () => new Objects({ api, watches, clock, kind, namespace: object.namespace, fieldSelector, maximum: MOST_EVENTS }),
    [fieldSelector, object.namespace],
  );
  const { error, phase, items, isTruncated } = events;
  if (error.value !== undefined) return <ErrorBox error={error.value} />;
  if (phase.value === 'listing' && items.value.size === 0) return <Progress />;
  const rows = eventRows(items.value.values());
  if (rows.length === 0)
    return (
      <EmptyState title="No events">
        <p>
          Nothing was reported about this object in the last hour or so: the server keeps events for a short time. New ones appear here at
          once.
        </p>
      </EmptyState>
    );
  return (
    <>
      {isTruncated.value && <p class="quiet tool-line">Only the first {MOST_EVENTS.toLocaleString('en')} events are shown.</p>}
      <ul class="events">
        {rows.map((row) => (
          <EventItem key={row.uid} row={row} />
        ))}
      </ul>
    </>
  );
}

function EventItem({ row }: { readonly row: EventRow }) {
  return (
    <li>
      <Badge text={row.type} tone={row.isWarning ? 'bad' : 'over'} />
      <div class="what">
        <p>
          <strong>{visibleText(row.reason)}</strong> <Text value={row.message} />
        </p>
        <p class="quiet">
          {row.source !== '' && `from ${visibleText(row.source)}`}
          {row.count > 1 && (
            <>
              , {row.count} times since <TimeAgo time={row.firstTime} /> ago
            </>
          )}
        </p>
      </div>
      <span class="when quiet">
        <TimeAgo time={row.lastTime} /> ago
      </span>
    </li>
  );
}
