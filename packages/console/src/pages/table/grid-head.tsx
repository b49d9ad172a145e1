import type { Row } from '../../api/collection.ts';
import { useConsole } from '../../app/console.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { nextOrder, type Order } from './arrange.ts';
import type { ShownColumn } from './columns.ts';
import type { Selection } from './selection.ts';

export interface GridHeadProps {
  readonly shown: readonly ShownColumn[];
  readonly order: Order;
  readonly rows: readonly Row[];
  readonly selection: Selection;
}

export function GridHead({ shown, order, rows, selection }: GridHeadProps) {
  const { location } = useConsole();
  const isAll = rows.length > 0 && selection.keys.value.size >= rows.length;
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={1}>
        <span role="columnheader" class="check">
          <input
            type="checkbox"
            aria-label="Select all"
            checked={isAll}
            onChange={() => (isAll ? selection.clear() : selection.all(rows))}
          />
        </span>
        {shown.map(({ column: { name, description } }) => (
          <span key={name} role="columnheader" aria-sort={sortOf(order, name)}>
            <button type="button" title={description} onClick={() => location.setQuery({ sort: nextOrder(order, name) })}>
              {visibleText(name)}
              <span aria-hidden="true">{order.column !== name ? '' : order.isDescending ? ' ▼' : ' ▲'}</span>
            </button>
          </span>
        ))}
      </div>
    </div>
  );
}

function sortOf({ column, isDescending }: Order, name: string): 'ascending' | 'descending' | 'none' {
  if (column !== name) return 'none';
  return isDescending ? 'descending' : 'ascending';
}
