import type { Kind } from '../../api/kinds.ts';
import { Objects } from '../../api/objects.ts';
import { useConsole } from '../../app/console.ts';
import { objectHref } from '../../app/routes.ts';
import { useOpened } from '../../app/use.ts';
import { Badge } from '../../parts/badge.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Text } from '../../parts/text.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { type EventObject, lastSeen, newestEvents, timesSeen } from './events.ts';

const SHOWN = 20;
const MAX_EVENTS = 1000;

interface EventListProps {
  readonly namespace: string | undefined;
  readonly fieldSelector?: string;
}

/** The newest events, live. */
export function EventList(props: EventListProps) {
  const { discovery } = useConsole();
  const kind = discovery.find({ group: '', version: 'v1', resource: 'events' });
  return kind === undefined ? <Progress /> : <List kind={kind} {...props} />;
}

function List({ kind, namespace, fieldSelector }: EventListProps & { readonly kind: Kind }) {
  const { api, watches, clock } = useConsole();
  const events = useOpened(
    () => new Objects<EventObject>({ api, watches, clock, kind, namespace, fieldSelector, maximum: MAX_EVENTS }),
    [kind, namespace, fieldSelector],
  );
  const error = events.error.value;
  if (error?.code === 403)
    return <p class="quiet">You may not list events{namespace === undefined && ' of all namespaces: choose one of yours'}.</p>;
  if (error !== undefined) return <ErrorBox error={error} />;
  if (events.phase.value === 'listing') return <Progress />;
  const newest = newestEvents(events.items.value.values(), SHOWN);
  if (newest.length === 0) return <p class="quiet">None.</p>;
  return (
    <ul class="changes">
      {newest.map((event) => (
        <EventLine key={event.metadata.uid} event={event} />
      ))}
    </ul>
  );
}

function EventLine({ event }: { readonly event: EventObject }) {
  const { discovery } = useConsole();
  const { apiVersion = 'v1', kind: kindName = '', name = '', namespace } = event.involvedObject;
  const kind = discovery.findKind(apiVersion, kindName);
  const place = visibleText(`${kindName} ${name}`);
  return (
    <li>
      <span class="age quiet">
        <TimeAgo time={lastSeen(event)} />
      </span>
      <div>
        <Badge text={event.reason ?? event.type ?? ''} tone={event.type === 'Warning' ? 'bad' : 'over'} />{' '}
        {kind === undefined ? place : <a href={objectHref(kind, kind.isNamespaced ? namespace : undefined, name)}>{place}</a>}{' '}
        <span class="quiet">
          {namespace !== undefined && `in ${visibleText(namespace)}`} {timesSeen(event) > 1 && `${timesSeen(event)} times`}
        </span>
        <div class="what">
          <Text value={event.message ?? ''} longest={160} />
        </div>
      </div>
    </li>
  );
}
