import { Collection } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { pageHref, tableHref } from '../../app/routes.ts';
import { useOpened } from '../../app/use.ts';
import { Badge } from '../../parts/badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { visibleText } from '../../parts/visible-text.ts';

/** More are in the table of namespaces. */
const SHOWN = 60;

export function Namespaces() {
  const { discovery } = useConsole();
  const kind = discovery.find({ group: '', version: 'v1', resource: 'namespaces' });
  return kind === undefined ? null : <List kind={kind} />;
}

function List({ kind }: { readonly kind: Kind }) {
  const { api, watches, clock } = useConsole();
  const namespaces = useOpened(() => new Collection({ api, watches, clock, kind }), [kind]);
  // Read so that the list is shown anew when namespaces change.
  namespaces.changes.value;
  const rows = [...namespaces.rows.values()].sort((one, other) => one.name.localeCompare(other.name));
  const isDenied = namespaces.error.value?.code === 403;
  return (
    <section aria-labelledby="namespaces-title">
      <h2 id="namespaces-title">Namespaces</h2>
      {isDenied && <p class="quiet">You may not list namespaces: type the name of yours at the top.</p>}
      <ul class="namespaces">
        {rows.slice(0, SHOWN).map(({ name, isTerminating, createdAt }) => (
          <li key={name}>
            <a href={pageHref('overview', name)}>{visibleText(name)}</a>{' '}
            {isTerminating ? (
              <Badge text="Terminating" />
            ) : (
              <span class="quiet">
                <TimeAgo time={Number.isNaN(createdAt) ? undefined : new Date(createdAt).toISOString()} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && (
        <p>
          <a href={tableHref(kind)}>All {rows.length.toLocaleString('en')} namespaces</a>
        </p>
      )}
    </section>
  );
}
