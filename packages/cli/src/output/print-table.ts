/** Tables on a terminal. */

import { own } from '@plat-dev/lib/own';
import { goText } from '../go-template/values.ts';
import { type Colour, cellColour, type Paint } from './colours.ts';

export interface TableColumn {
  readonly name: string;
  readonly type?: string;
  readonly format?: string;
  readonly priority?: number;
}
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: {
    readonly kind?: string;
    readonly metadata?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly uid?: string;
      readonly resourceVersion?: string;
      readonly creationTimestamp?: string;
      readonly labels?: Record<string, string>;
    };
  };
}
export interface Table {
  readonly kind: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly TableRow[];
}

export interface TableStyle {
  readonly wide?: boolean;
  readonly headers: boolean;
  /** Show the namespace before the other columns. */
  readonly namespaces?: boolean;
  /** Show all labels in the last column. */
  readonly labels?: boolean;
  /** Labels with a column each. */
  readonly labelColumns?: readonly string[];
  /** Prefix of each name when several kinds are shown: `pod/`. */
  readonly prefix?: string;
  /** Headers and cells as they are; the headers also without rows. */
  readonly verbatim?: boolean;
  readonly paint?: Paint;
}

/** Spaces after the longest cell, and the least width of a column with them. */
const padding = 3;
const leastWidth = 6;

export interface Cell {
  readonly text: string;
  readonly colour?: Colour | undefined;
}

/** The columns of a table in a style, and the texts of its rows. */
export class TableLayout {
  private readonly style: TableStyle;
  private readonly columns: readonly { readonly index: number; readonly name: string; readonly isName: boolean }[];

  constructor(style: TableStyle, definitions: readonly TableColumn[]) {
    this.style = style;
    const nameAt = definitions.findIndex((c) => c.format === 'name');
    this.columns = definitions
      .map((c, index) => ({ index, name: c.name, priority: c.priority ?? 0, isName: index === nameAt }))
      .filter((c) => style.wide || c.priority === 0);
  }
  headers(): string[] {
    const { namespaces, labels, labelColumns = [], verbatim } = this.style;
    const names = this.columns.map((c) => (verbatim ? printable(c.name) : printable(c.name).toUpperCase()));
    if (namespaces) names.unshift('NAMESPACE');
    for (const label of labelColumns) names.push(printable(label.slice(label.lastIndexOf('/') + 1)).toUpperCase());
    if (labels) names.push('LABELS');
    return names;
  }
  cells(row: TableRow): Cell[] {
    const { namespaces, labels, labelColumns = [], prefix = '', verbatim, paint } = this.style;
    const { metadata } = row.object ?? {};
    const cells = this.columns.map(({ index, name, isName }): Cell => {
      const text = verbatim ? printable(goText(row.cells[index])) : cellText(row.cells[index]);
      if (isName && prefix !== '') return { text: `${prefix}${text}` };
      return paint === undefined ? { text } : { text, colour: cellColour(name, text) };
    });
    if (namespaces) cells.unshift({ text: printable(metadata?.namespace ?? '') });
    for (const label of labelColumns) cells.push({ text: printable(own(metadata?.labels, label) ?? '') });
    if (labels) cells.push({ text: printable(labelText(metadata?.labels)) });
    return cells;
  }
}

/** Prints rows under their columns. Widths are remembered and only grow, so that later rows line up. */
export class TablePrinter {
  private readonly style: TableStyle;
  private layout: TableLayout | undefined;
  private widths: number[] = [];
  private hasHeaders = false;

  constructor(style: TableStyle) {
    this.style = style;
  }
  /** Whether the table has headers at all. */
  get hasHeaderLine(): boolean {
    return this.style.headers;
  }
  /** The next rows come with the headers again: another table was printed between. */
  repeatHeaders(): void {
    this.hasHeaders = false;
  }
  /** The text of some rows; with the first of them the headers. `event`: the type of a change, before all columns. */
  print(definitions: readonly TableColumn[] | null | undefined, rows: readonly TableRow[], event?: string): string {
    // A watch sends the columns once only.
    if (this.layout === undefined && definitions && definitions.length > 0) this.layout = new TableLayout(this.style, definitions);
    const { layout } = this;
    if (layout === undefined || (rows.length === 0 && !this.style.verbatim)) return '';
    const lines: Cell[][] = rows.map((row) => layout.cells(row));
    if (event !== undefined) for (const line of lines) line.unshift({ text: event.padEnd(8) });
    if (this.style.headers && !this.hasHeaders) {
      this.hasHeaders = true;
      const headers: Cell[] = layout.headers().map((text) => ({ text, colour: 'bold' }));
      lines.unshift(event === undefined ? headers : [{ text: 'EVENT', colour: 'bold' }, ...headers]);
    }
    widen(this.widths, lines);
    const paint = this.style.paint ?? ((text: string): string => text);
    return lines
      .map((line) => `${line.map((cell, i) => padded(cell, i === line.length - 1 ? 0 : (this.widths[i] ?? 0), paint)).join('')}\n`)
      .join('');
  }
}

/** Makes columns as wide as their longest cell; the last one needs no width. */
export function widen(widths: number[], lines: readonly (readonly Cell[])[]): void {
  for (const line of lines) {
    for (let i = 0; i < line.length - 1; i++) {
      widths[i] = Math.max(widths[i] ?? leastWidth, lengthOf((line[i] as Cell).text) + padding);
    }
  }
}
export function padded({ text, colour }: Cell, width: number, paint: Paint): string {
  return paint(text, colour) + ' '.repeat(Math.max(0, width - lengthOf(text)));
}
/** Characters, not code units. */
export const lengthOf = (text: string): number => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length);

function labelText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}
/** Only the first line of a text is shown. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = goText(value);
  const end = text.indexOf('\n');
  return printable(end < 0 ? text : `${text.slice(0, end)}...`);
}

/** Text of objects comes from anyone; control characters in it must not reach the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (c) => {
    if (c === '\n') return '\\n';
    if (c === '\t') return '\\t';
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
