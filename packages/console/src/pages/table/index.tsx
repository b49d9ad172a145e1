/** The table of a kind: the server's own columns, live, with filter, selectors, sort order and selection. The URL has all of it. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Collection } from '../../api/collection.ts';
import { type Kind, kindKey } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import type { TableRoute } from '../../app/routes.ts';
import { useOpened, useTitle } from '../../app/use.ts';
import { UnknownKind } from '../../parts/unknown-kind.tsx';
import { parseOrder } from './arrange.ts';
import { Selection } from './selection.ts';
import { TableBody } from './table-body.tsx';
import { TableView } from './table-view.ts';
import { Toolbar } from './toolbar.tsx';
import './table.css';

export default function TablePage({ route }: { readonly route: TableRoute }) {
  const { discovery } = useConsole();
  const kind = discovery.find(route.kind);
  useTitle(kind?.kind ?? route.kind.resource);
  if (kind === undefined) return <UnknownKind kind={route.kind} />;
  // Another collection is another table: nothing of the old one stays.
  const key = [kindKey(kind), route.namespace, route.query.get('labels'), route.query.get('fields')].join(' ');
  return <KindTable key={key} kind={kind} route={route} />;
}

interface KindTableProps {
  readonly kind: Kind;
  readonly route: TableRoute;
}
function KindTable({ kind, route: { namespace, query } }: KindTableProps) {
  const { api, watches, clock } = useConsole();
  const labelSelector = query.get('labels') ?? undefined;
  const fieldSelector = query.get('fields') ?? undefined;
  const { collection, view } = useOpened(() => {
    const collection = new Collection({ api, watches, clock, kind, namespace, labelSelector, fieldSelector });
    const view = new TableView(collection, clock);
    return { collection, view, close: () => view.close() };
  }, []);
  const selection = useMemo(() => new Selection(), []);
  const filterField = useRef<HTMLInputElement>(null);
  const filter = query.get('q') ?? '';
  const sort = query.get('sort');
  useEffect(() => view.show(filter, parseOrder(sort)), [view, filter, sort]);
  return (
    <section class="table-page" aria-label={kind.kind}>
      <Toolbar kind={kind} query={query} collection={collection} view={view} selection={selection} filterField={filterField} />
      <TableBody
        kind={kind}
        isWide={query.get('wide') === 'true'}
        hasNamespace={kind.isNamespaced && namespace === undefined}
        filter={filter}
        order={parseOrder(sort)}
        isNarrowed={filter !== '' || labelSelector !== undefined || fieldSelector !== undefined}
        collection={collection}
        view={view}
        selection={selection}
      />
    </section>
  );
}
