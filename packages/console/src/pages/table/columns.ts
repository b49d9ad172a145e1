/** The columns that a table shows, and how wide they are. */
import type { Column, Row } from '../../api/collection.ts';
import { cellText, isAge, NAMESPACE_COLUMN } from './arrange.ts';

export interface ShownColumn {
  readonly column: Column;
  /** Its place in the cells of a row; -1 for the namespace, which is not among them. */
  readonly index: number;
}

const namespaceColumn: Column = {
  name: NAMESPACE_COLUMN,
  type: 'string',
  format: '',
  description: 'The namespace of the object.',
  priority: 0,
};

export function shownColumns(columns: readonly Column[], isWide: boolean, hasNamespace: boolean): ShownColumn[] {
  const own = columns.map((column, index) => ({ column, index })).filter(({ column }) => isWide || column.priority === 0);
  return hasNamespace ? [{ column: namespaceColumn, index: -1 }, ...own] : own;
}

const NARROWEST = 6;
const WIDEST = 48;
/** Rows that are looked at; all would take too long. */
const SAMPLE = 200;

/** Widths in characters. `before`: columns that were shown never become narrower, so that nothing jumps. */
export function columnWidths(
  shown: readonly ShownColumn[],
  rows: readonly Row[],
  before: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map(
    shown.map(({ column, index }) => {
      // The mark of the sort order has its place, too.
      let widest = Math.max(NARROWEST, column.name.length + 3, before.get(column.name) ?? 0);
      for (const row of rows.slice(0, SAMPLE)) widest = Math.max(widest, textOf(row, column, index).length + 1);
      return [column.name, Math.min(widest, WIDEST)];
    }),
  );
}
function textOf({ namespace = '', cells }: Row, column: Column, index: number): string {
  return index < 0 ? namespace : isAge(column) ? '' : cellText(cells[index]);
}

/** The columns of a row as CSS has them, with the space around their texts, after the one of the check box. */
export const gridTemplate = (widths: Iterable<number>): string =>
  ['32px', ...[...widths].map((width) => `minmax(calc(${width}ch + 16px), ${width}fr)`)].join(' ');
