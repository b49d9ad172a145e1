/** The rows, or what is to be said where there are none. */
import { type Kind, kindKey } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { pageHref } from '../../app/routes.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Grid } from './grid.tsx';
import type { TableProps } from './table-props.ts';

export function TableBody(props: TableProps) {
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
        They appear here as soon as they are created: <a href={pageHref('create', namespace, { kind: kindKey(kind) })}>create one here</a>,
        or with <code>plat apply -f FILE</code>.
      </p>
    </EmptyState>
  );
}
