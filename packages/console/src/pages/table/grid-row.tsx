import { Component, type VNode } from 'preact';
import type { Column, Row } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { objectHref } from '../../app/routes.ts';
import { toneOf } from '../../parts/tones.ts';
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
  /** How old the object is; undefined where it does not say it. */
  readonly age: string | undefined;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly selection: Selection;
  readonly view: TableView;
}

export const rowId = (index: number): string => `row-${index}`;

/** A row is drawn again where what it shows has changed: while a table is scrolled, most rows stay as they are. */
export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const { row, index, shown, age, isSelected, isActive } = this.props;
    const isSameRow = row === next.row && index === next.index && age === next.age;
    const isSame = isSameRow && isSelected === next.isSelected && isActive === next.isActive;
    return !isSame || shown.length !== next.shown.length || shown.some(({ column }, i) => column !== next.shown[i]?.column);
  }

  override render({ row, index, kind, shown, age, isSelected, isActive }: GridRowProps) {
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
            onChange={(event) => this.#check(event)}
          />
        </span>
        {shown.map(({ column, index: at }) => cell(row, column, at, kind, age))}
      </div>
    );
  }

  #click(event: MouseEvent): void {
    const { row, selection, view } = this.props;
    if ((event.target as Element).closest('a, input') !== null) return;
    if (event.shiftKey) selection.extendTo(row, view.rows.peek());
    else if (event.ctrlKey || event.metaKey) selection.toggle(row);
    selection.active.value = row.key;
    focusGrid(event);
  }

  #check(event: Event): void {
    this.props.selection.toggle(this.props.row);
    this.props.selection.active.value = this.props.row.key;
    focusGrid(event);
  }
}

/** Elements of a row are used for other rows later: none of them keeps the focus. */
function focusGrid(event: Event): void {
  (event.currentTarget as Element).closest<HTMLElement>('[role=grid]')?.focus({ preventScroll: true });
}

const LONGEST_CELL = 200;
const LONGEST_TITLE = 2000;
/** Texts that are longer may be cut by the width of their column. */
const LONGER = 24;
const stateColumns = new Set(['Status', 'Phase', 'State', 'Type', 'Ready', 'Available', 'Healthy']);

/** No component: a table that is scrolled draws hundreds of cells in a frame. */
function cell(row: Row, column: Column, at: number, kind: Kind, age: string | undefined): VNode {
  const whole = at < 0 ? (row.namespace ?? '') : isAge(column) && age !== undefined ? age : cellText(row.cells[at]);
  const text = visibleText(shortText(whole, LONGEST_CELL));
  const title = whole.length > LONGER ? visibleText(shortText(whole, LONGEST_TITLE)) : undefined;
  const tone = stateColumns.has(column.name) ? toneOf(whole) : undefined;
  return (
    <span key={column.name} role="gridcell" title={title} class={tone}>
      {at === 0 ? (
        <a href={objectHref(kind, row.namespace, row.name)} tabIndex={-1}>
          {text}
        </a>
      ) : (
        text
      )}
    </span>
  );
}
