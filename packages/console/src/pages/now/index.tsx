/** What happens now: changes of the chosen kinds, and requests that were refused or slow. */
import { useEffect, useMemo } from 'preact/hooks';
import { explainKind } from '../../api/explain.ts';
import type { Kind } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { useOpened, useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ChangeStream } from './change-stream.ts';
import { chosenKinds } from './chosen-kinds.ts';
import { Filters } from './filters.tsx';
import { filterRows, NowRows } from './now.ts';
import { requestReader } from './requests.ts';
import { RowList } from './row-list.tsx';
import './now.css';

export default function Now() {
  const { discovery, location } = useConsole();
  useTitle('Now');
  const { namespace, query } = location.route.value;
  const chosen = chosenKinds(discovery.kinds.value, query.get('kinds'), namespace);
  const rows = useMemo(() => new NowRows(), []);
  useRequests(rows);
  return (
    <div class="now-page">
      <h1>Now</h1>
      {discovery.state.value.phase === 'loading' ? <Progress /> : <Stream rows={rows} chosen={chosen} />}
    </div>
  );
}

function Stream({ rows, chosen }: { readonly rows: NowRows; readonly chosen: readonly Kind[] }) {
  const { api, watches, clock, location } = useConsole();
  const { namespace, query } = location.route.value;
  const names = chosen.map(({ group, resource }) => `${group}/${resource}`).join();
  const stream = useOpened(() => new ChangeStream({ api, watches, clock, rows, kinds: chosen, namespace }), [names, namespace]);
  const filter = { namespace, user: query.get('user') ?? '', text: query.get('text') ?? '', what: query.get('what') ?? '' };
  const shown = filterRows(rows.rows.value, filter);
  const failures = [...stream.failures.value.keys()];
  return (
    <>
      <Filters rows={rows} chosen={chosen} />
      {failures.length > 0 && <p class="quiet">You may not watch, or the server does not tell: {visibleText(failures.join(', '))}.</p>}
      {shown.length === 0 ? (
        <EmptyState title={rows.rows.value.length === 0 ? 'Nothing has happened yet' : 'Nothing fits the filter'}>
          <p>
            {rows.rows.value.length === 0
              ? 'Changes appear here as they are made, while this page is open.'
              : 'Change the filter above, or clear it.'}
          </p>
        </EmptyState>
      ) : (
        <RowList rows={shown} />
      )}
    </>
  );
}

const REQUESTS_MILLIS = 5000;

/** Asks for refused and slow requests while the page is visible. */
function useRequests(rows: NowRows): void {
  const { api, clock, discovery, session } = useConsole();
  const refusals = explainKind(discovery, 'refusalsearches');
  const slow = explainKind(discovery, 'slowrequestsearches');
  const user = session.details?.user.name ?? '';
  useEffect(() => {
    if (refusals === undefined && slow === undefined) return undefined;
    const abort = new AbortController();
    const read = requestReader(api, { refusals, slow }, user);
    const poll = (): void => {
      // The stream of changes says it where the server cannot be reached.
      if (!document.hidden)
        read(abort.signal).then(
          (newRows) => rows.add(newRows),
          () => undefined,
        );
    };
    poll();
    const cancel = clock.every(REQUESTS_MILLIS, poll);
    return () => {
      abort.abort();
      cancel();
    };
  }, [refusals, slow, user]);
}
