import { Component } from 'preact';
import type { Column, Row } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { objectHref } from '../../app/routes.ts';
import { Badge } from '../../parts/badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { shortText, visibleText } from '../../parts/visible-text.ts';
import { cellText, isAge } from './arrange.ts';
import type { ShownColumn } from './columns.ts';
import type { Selection } from './selection.ts';
import type { TableView } from './table-view.ts';
import { ROW_HEIGHT } from './window.ts';

export interface GridRowProps {
  readonly row: Row;
  readonly index: number;
  readonly kind: Kind;
  readonly shown: readonly ShownColumn[];
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly selection: Selection;
  readonly view: TableView;
}

export const rowId = (index: number): string => `row-${index}`;

/** A row is drawn again where what it shows has changed: while a table is scrolled, most rows stay as they are. */
export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const { row, index, shown, isSelected, isActive } = this.props;
    const isSame = row === next.row && index === next.index && isSelected === next.isSelected && isActive === next.isActive;
    return !isSame || shown.length !== next.shown.length || shown.some(({ column }, i) => column !== next.shown[i]?.column);
  }

  override render({ row, index, kind, shown, isSelected, isActive, selection }: GridRowProps) {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys of its rows.
      <div
        id={rowId(index)}
        class={`grid-row${isActive ? ' active' : ''}${row.isTerminating ? ' terminating' : ''}`}
        role="row"
        tabIndex={-1}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        style={{ top: `${index * ROW_HEIGHT}px` }}
        onClick={(event) => this.#click(event)}
      >
        <span role="gridcell" class="check">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${row.name}`}
            checked={isSelected}
            onChange={() => selection.toggle(row)}
          />
        </span>
        {shown.map(({ column, index: at }) => (
          <span key={column.name} role="gridcell">
            <CellContent
              row={row}
              column={column}
              text={at < 0 ? (row.namespace ?? '') : cellText(row.cells[at])}
              isName={at === 0}
              kind={kind}
            />
          </span>
        ))}
      </div>
    );
  }

  #click(event: MouseEvent): void {
    const { row, selection, view } = this.props;
    const grid = (event.currentTarget as Element).closest<HTMLElement>('[role=grid]');
    if ((event.target as Element).closest('a, input') !== null) return;
    if (event.shiftKey) selection.extendTo(row, view.rows.peek());
    else if (event.ctrlKey || event.metaKey) selection.toggle(row);
    selection.active.value = row.key;
    grid?.focus({ preventScroll: true });
  }
}

const LONGEST_CELL = 200;
const stateColumns = new Set(['Status', 'Phase', 'State', 'Type', 'Ready', 'Available', 'Healthy']);

interface CellProps {
  readonly row: Row;
  readonly column: Column;
  readonly text: string;
  readonly isName: boolean;
  readonly kind: Kind;
}
function CellContent({ row, column, text, isName, kind }: CellProps) {
  if (isName) {
    return (
      <a href={objectHref(kind, row.namespace, row.name)} tabIndex={-1} title={visibleText(row.name)}>
        {visibleText(shortText(text, LONGEST_CELL))}
      </a>
    );
  }
  if (isAge(column) && !Number.isNaN(row.createdAt)) return <TimeAgo time={new Date(row.createdAt).toISOString()} />;
  if (stateColumns.has(column.name)) return <Badge text={text} />;
  return <span title={text.length > 24 ? visibleText(text) : undefined}>{visibleText(shortText(text, LONGEST_CELL))}</span>;
}
