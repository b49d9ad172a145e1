/** A grid of any number of rows, of which only those that can be seen are drawn. */
import { humanDuration } from '@plat-dev/meta/age';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from '../../api/collection.ts';
import { useConsole } from '../../app/console.ts';
import { objectHref } from '../../app/routes.ts';
import { useNow } from '../../app/use.ts';
import { columnWidths, gridTemplate, shownColumns } from './columns.ts';
import { GridHead } from './grid-head.tsx';
import { GridRow, rowId } from './grid-row.tsx';
import type { TableProps } from './table-props.ts';
import { ROW_HEIGHT, rowWindow, STEP, scrollTopFor, windowLength } from './window.ts';

export function Grid({ kind, isWide, hasNamespace, filter, order, collection, view, selection }: TableProps) {
  const { location } = useConsole();
  const grid = useRef<HTMLDivElement>(null);
  const { scrollTop, height } = useScroll(grid);
  const rows = view.rows.value;
  const selected = selection.keys.value;
  const now = useNow();
  const hasSelection = selected.size > 0;
  const active = selection.active.value;
  const columns = collection.columns.value;
  const shown = useMemo(() => shownColumns(columns, isWide, hasNamespace), [columns, isWide, hasNamespace]);
  const widths = useRef<ReadonlyMap<string, number>>(new Map());
  widths.current = useMemo(() => columnWidths(shown, rows, widths.current), [shown, rows]);
  const { first, end } = rowWindow(scrollTop, height, rows.length);
  useFocusAtStart(grid);
  useEffect(() => void grid.current?.scrollTo(0, 0), [filter, order.column, order.isDescending]);

  const activate = (index: number): void => {
    const row = rows[index];
    const element = grid.current;
    if (row === undefined || element === null) return;
    selection.active.value = row.key;
    element.scrollTop = scrollTopFor(index, element.scrollTop, element.clientHeight - ROW_HEIGHT);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== grid.current) return;
    const target = selection.moved(event.key, rows, Math.max(1, Math.floor(height / ROW_HEIGHT) - 2));
    const activeRow = rows.find(({ key }) => key === active);
    if (target !== undefined) {
      activate(target);
      if (event.shiftKey) selection.extendTo(rows[target] as Row, rows);
    } else if (event.key === 'Enter' && activeRow !== undefined) {
      location.navigate(objectHref(kind, activeRow.namespace, activeRow.name));
    } else if (event.key === ' ' && activeRow !== undefined) selection.toggle(activeRow);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.all(rows);
    else if (event.key === 'Escape' && hasSelection) selection.clear();
    else return;
    event.preventDefault();
  };
  const indexOfActive = rows.slice(first, end).findIndex(({ key }) => key === active);
  return (
    <div
      ref={grid}
      class="grid"
      role="grid"
      aria-label={kind.kind}
      aria-rowcount={rows.length + 1}
      aria-colcount={shown.length + 1}
      aria-multiselectable="true"
      aria-activedescendant={indexOfActive < 0 ? undefined : rowId(first + indexOfActive)}
      tabIndex={0}
      style={{ '--columns': gridTemplate(widths.current.values()) }}
      onKeyDown={onKeyDown}
      onFocus={() => active === undefined && activate(0)}
    >
      <GridHead shown={shown} order={order} rows={rows} selection={selection} />
      <div class="rows" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {rows.slice(first, end).map((row, i) => (
          <GridRow
            // A row that leaves gives its elements to one that comes.
            key={(first + i) % windowLength(height)}
            row={row}
            index={first + i}
            kind={kind}
            shown={shown}
            age={Number.isNaN(row.createdAt) ? undefined : humanDuration(now - row.createdAt)}
            isSelected={selected.has(row.key)}
            isActive={row.key === active}
            selection={selection}
            view={view}
          />
        ))}
      </div>
    </div>
  );
}

/** What of the rows can be seen, by whole steps of the window. */
function useScroll(grid: RefObject<HTMLDivElement | null>): { readonly scrollTop: number; readonly height: number } {
  const [scrollTop, setScrollTop] = useState(0);
  const [height, setHeight] = useState(USUAL_HEIGHT);
  useLayoutEffect(() => {
    const element = grid.current;
    if (element === null) return undefined;
    const read = (): void => {
      setScrollTop(element.scrollTop - (element.scrollTop % (STEP * ROW_HEIGHT)));
      setHeight(element.clientHeight);
    };
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', read);
    };
  }, []);
  return { scrollTop, height };
}
/** Until it is known. */
const USUAL_HEIGHT = 600;

/** Keys work at once, unless the user is somewhere else already. */
function useFocusAtStart(grid: RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body) grid.current?.focus({ preventScroll: true });
  }, []);
}
