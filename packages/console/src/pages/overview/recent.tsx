import { useMemo } from 'preact/hooks';
import type { Kind } from '../../api/kinds.ts';
import { usualKinds } from '../../api/usual-kinds.ts';
import { useConsole } from '../../app/console.ts';
import { objectHref, pageHref } from '../../app/routes.ts';
import { usePolled } from '../../app/use-polled.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Text } from '../../parts/text.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { EventList } from './event-list.tsx';
import { type Change, loadRecentChanges, type RecentChanges } from './recent.ts';

const PERIOD_MILLIS = 60_000;
const SINCE_MILLIS = 24 * 3600_000;
const MAX_KINDS = 16;

export function Recent({ namespace }: { readonly namespace: string | undefined }) {
  const { api, clock, discovery } = useConsole();
  const kinds = discovery.kinds.value;
  // What was denied is not asked for again: the server remembers the last refusals of a user, and shows them as theirs.
  const denied = useMemo(() => new Set<Kind>(), [namespace, kinds]);
  const recent = usePolled(
    async (signal) => {
      const chosen = usualKinds(kinds, MAX_KINDS).filter(({ isNamespaced }) => isNamespaced || namespace === undefined);
      if (kinds.length === 0) return undefined;
      const asked = chosen.filter((kind) => !denied.has(kind));
      const answer = await loadRecentChanges(api, asked, namespace, clock.now() - SINCE_MILLIS, signal);
      for (const kind of answer.denied) denied.add(kind);
      return { ...answer, denied: [...denied] };
    },
    PERIOD_MILLIS,
    [namespace, kinds],
  );
  return (
    <section aria-labelledby="recent-title">
      <h2 id="recent-title">Recent changes</h2>
      {recent.phase === 'loading' && <Progress />}
      {recent.phase === 'failed' && <ErrorBox error={recent.error} />}
      {recent.phase === 'ready' && recent.value !== undefined && <Changes recent={recent.value} namespace={namespace} />}
      <p>
        <a href={pageHref('now', namespace)}>See all changes as they happen</a>, those of controllers as well
      </p>
    </section>
  );
}

interface ChangesProps {
  readonly recent: RecentChanges;
  readonly namespace: string | undefined;
}
function Changes({ recent: { changes, denied, hasHistory }, namespace }: ChangesProps) {
  if (!hasHistory) {
    return (
      <>
        <p class="quiet">{withoutHistory(denied.length)} Events tell some of it:</p>
        <EventList namespace={namespace} />
      </>
    );
  }
  return (
    <>
      {changes.length > 0 && (
        <ul class="changes">
          {changes.map((change) => (
            <ChangeLine key={`${change.kind.resource} ${change.resourceVersion} ${change.name}`} change={change} />
          ))}
        </ul>
      )}
      {changes.length === 0 && <p class="quiet">Nobody has changed anything in the last 24 hours.</p>}
      {denied.length > 0 && <p class="quiet">You may not read the history of {denied.length} more kinds.</p>}
    </>
  );
}

function withoutHistory(denied: number): string {
  if (denied > 0) return 'You may not read who changed what, which takes the verb history on a kind.';
  return 'This server keeps no history of changes.';
}

function ChangeLine({ change }: { readonly change: Change }) {
  const { kind, namespace, name, type, user, time } = change;
  const place = `${kind.resource}/${name}`;
  return (
    <li>
      <span class="age quiet">
        <TimeAgo time={time} />
      </span>
      <div>
        {type === 'deleted' ? (
          <span>{visibleText(place)}</span>
        ) : (
          <a href={objectHref(kind, kind.isNamespaced ? namespace : undefined, name)}>{visibleText(place)}</a>
        )}{' '}
        <span class="quiet">
          {namespace !== undefined && namespace !== '' && `in ${visibleText(namespace)} `}
          {user !== undefined && user !== '' && `by ${visibleText(user)}`}
        </span>
        <div class="what">
          <Text value={change.change ?? type} longest={120} />
        </div>
      </div>
    </li>
  );
}
