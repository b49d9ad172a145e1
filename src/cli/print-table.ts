/** Tables on a terminal. */

export interface TableColumn {
  readonly name: string;
  readonly priority?: number;
}
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: {
    readonly kind?: string;
    readonly metadata?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly resourceVersion?: string;
      readonly labels?: Record<string, string>;
    };
  };
}
export interface Table {
  readonly kind: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly TableColumn[];
  readonly rows?: readonly TableRow[];
}

export interface TableStyle {
  readonly wide: boolean;
  readonly headers: boolean;
  /** Show the namespace before the other columns. */
  readonly namespaces: boolean;
  readonly labels: boolean;
  /** Prefix of each name when several kinds are shown: `pod/`. */
  readonly prefix: string;
}

const gap = 3;

/** Prints rows under their columns. The first rows set the widths, so that later rows line up. */
export class TablePrinter {
  private readonly style: TableStyle;
  private columns: readonly { readonly index: number; readonly name: string }[] = [];
  private widths: number[] = [];

  constructor(style: TableStyle) {
    this.style = style;
  }
  /** The text of some rows; the first call also returns the headers. */
  print(definitions: readonly TableColumn[] | undefined, rows: readonly TableRow[]): string {
    const first = this.widths.length === 0;
    if (first && definitions !== undefined) {
      this.columns = definitions
        .map((c, index) => ({ index, name: c.name, priority: c.priority ?? 0 }))
        .filter((c) => this.style.wide || c.priority === 0);
    }
    const lines = rows.map((row) => this.cells(row));
    if (first && this.style.headers) lines.unshift(this.headers());
    for (const line of lines)
      line.forEach((cell, i) => {
        if (first) this.widths[i] = Math.max(this.widths[i] ?? 0, cell.length);
      });
    return lines
      .map(
        (line) =>
          `${line
            .map((cell, i) => cell.padEnd((this.widths[i] ?? 0) + gap))
            .join('')
            .trimEnd()}\n`,
      )
      .join('');
  }
  private headers(): string[] {
    const names = this.columns.map((c) => printable(c.name).toUpperCase());
    if (this.style.namespaces) names.unshift('NAMESPACE');
    if (this.style.labels) names.push('LABELS');
    return names;
  }
  private cells(row: TableRow): string[] {
    const cells = this.columns.map(({ index }) => cellText(row.cells[index]));
    if (this.style.prefix !== '' && cells.length > 0) cells[0] = `${this.style.prefix}${cells[0]}`;
    if (this.style.namespaces) cells.unshift(cellText(row.object?.metadata?.namespace ?? ''));
    if (this.style.labels) cells.push(cellText(labelText(row.object?.metadata?.labels)));
    return cells;
  }
}
function labelText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  if (typeof value === 'object') return printable(JSON.stringify(value));
  return printable(String(value));
}

/** Text of objects comes from anyone; control characters in it must not reach the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (c) => {
    if (c === '\n') return '\\n';
    if (c === '\t') return '\\t';
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
