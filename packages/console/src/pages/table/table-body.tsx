/** The rows, or what is to be said where there are none. */
import type { Collection } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import type { Order } from './arrange.ts';
import { Grid } from './grid.tsx';
import type { Selection } from './selection.ts';
import type { TableView } from './table-view.ts';

export interface TableBodyProps {
  readonly kind: Kind;
  readonly isWide: boolean;
  readonly hasNamespace: boolean;
  readonly order: Order;
  /** Whether a filter or a selector hides rows. */
  readonly isNarrowed: boolean;
  readonly collection: Collection;
  readonly view: TableView;
  readonly selection: Selection;
}

export function TableBody(props: TableBodyProps) {
  const { kind, isNarrowed, collection, view } = props;
  const error = collection.error.value;
  const isEmpty = view.rows.value.length === 0;
  const isWaiting = collection.phase.value === 'listing' || view.isArranging.value;
  return (
    <>
      {error !== undefined && <ErrorBox error={error} />}
      {isEmpty && isWaiting && <Progress label={`Reading ${kind.resource}…`} />}
      {isEmpty && !isWaiting && error === undefined && <Nothing kind={kind} isNarrowed={isNarrowed} />}
      {!isEmpty && <Grid {...props} />}
    </>
  );
}

function Nothing({ kind, isNarrowed }: { readonly kind: Kind; readonly isNarrowed: boolean }) {
  const { location } = useConsole();
  if (isNarrowed)
    return (
      <EmptyState title={`No ${kind.resource} match`}>
        <button type="button" onClick={() => location.setQuery({ q: undefined, labels: undefined, fields: undefined })}>
          Show all
        </button>
      </EmptyState>
    );
  const { namespace } = location.route.value;
  return (
    <EmptyState title={`There are no ${kind.resource}${namespace === undefined ? '' : ` in ${namespace}`}`}>
      <p>
        They appear here as soon as they are created, for instance with <code>plat apply -f FILE</code>.
      </p>
    </EmptyState>
  );
}
