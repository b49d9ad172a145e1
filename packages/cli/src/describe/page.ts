/**
 * Pages of describe: lines of cells at levels of indentation. Cells end with tabs; the columns are aligned when the page is whole.
 *
 *   const page = new Page();
 *   page.field('Name', 'web').labels('Labels', { app: 'web', tier: 'front' });
 *   page.heading('Ports').at(1).table(['Name', 'Port'], [['http', 80]]);
 *
 *   Name:    web
 *   Labels:  app=web
 *            tier=front
 *   Ports:
 *     Name  Port
 *     ----  ----
 *     http  80
 */
import type { Integer } from '@plat-dev/lib/integers';
import { clientSideApply } from '@plat-dev/meta/identity';
import { screenText } from '../output/screen-text.ts';
import { inOrder } from './order.ts';

export type Cell = string | Integer | boolean | undefined;

/** Longer annotations begin on a line of their own, and longer lines of them are cut. */
const MAX_ANNOTATION_BYTES = 140;

export class Page {
  private readonly parts: string[];
  private readonly indent: string;

  constructor(parts: string[] = [], indent = '') {
    this.parts = parts;
    this.indent = indent;
  }
  /** The same page, written further to the right: every write begins with two spaces a level, or with some text. */
  at(level: number | string): Page {
    return new Page(this.parts, this.indent + (typeof level === 'string' ? level : '  '.repeat(level)));
  }
  /** Part of a line, or several lines. */
  write(text: string): this {
    this.parts.push(this.indent, escaped(text));
    return this;
  }
  line(...cells: readonly Cell[]): this {
    return this.write(`${cells.map(cellText).join('\t')}\n`);
  }
  /** `Name:  web` */
  field(label: string, value: Cell): this {
    return this.line(`${label}:`, value);
  }
  /** A field that is left out where it has no value. */
  fieldIfSet(label: string, value: Cell): this {
    return value === undefined || value === '' ? this : this.field(label, value);
  }
  heading(label: string): this {
    return this.line(`${label}:`);
  }
  /** `dashes`: how many there are below each header, where that is not its length. */
  table(header: readonly string[], rows: readonly (readonly Cell[])[], dashes: readonly number[] = []): this {
    this.line(...header);
    this.line(...header.map((name, i) => '-'.repeat(dashes[i] ?? name.length)));
    for (const row of rows) this.line(...row);
    return this;
  }
  /** A field with a line for each value. */
  list(title: string, values: readonly string[]): this {
    this.write(`${title}:\t`);
    if (values.length === 0) this.write('<none>\n');
    values.forEach((value, i) => {
      if (i > 0) this.write('').write('\t');
      this.write(`${value}\n`);
    });
    return this;
  }
  labels(title: string, labels: Readonly<Record<string, string>> = {}): this {
    return this.list(title, sortedPairs(labels));
  }
  /** What the stock client applied last is left out: it repeats the object. */
  annotations(title: string, annotations: Readonly<Record<string, string>> = {}): this {
    const entries = Object.entries(annotations)
      .filter(([key]) => key !== clientSideApply.annotation)
      .sort(byKey);
    return this.list(
      title,
      entries.map(([key, annotationValue]) => annotationText(key, annotationValue.replace(/\n$/, ''))),
    );
  }
  toString(): string {
    return alignTabs(this.parts.join(''));
  }
}

const cellText = (cell: Cell): string => (cell === undefined ? '' : String(cell));
/** Escape sequences of terminals in values are shown, not obeyed. */
const escaped = (text: string): string => screenText(text.replaceAll('\x1b', '^[').replaceAll('\r', '\\r'));

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => inOrder(a, b);
export const sortedPairs = (labels: Readonly<Record<string, string>>): string[] =>
  Object.entries(labels)
    .sort(byKey)
    .map(([key, value]) => `${key}=${value}`);

function annotationText(key: string, value: string): string {
  const fits = Buffer.byteLength(value) + Buffer.byteLength(key) + 2 <= MAX_ANNOTATION_BYTES;
  if (fits && !value.includes('\n')) return `${key}: ${value}`;
  const lines = value.split('\n').map((line) => `\n\t  ${cut(line, MAX_ANNOTATION_BYTES - 2)}`);
  return `${key}:${lines.join('')}`;
}
export function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  return whole.length <= bytes ? text : `${whole.subarray(0, bytes).toString()}...`;
}

/**
 * Aligns columns: a cell is what a tab ends, and cells of one column on consecutive lines are made equally wide, with two
 * spaces between columns. A line without that cell ends the column, so that tables below each other do not widen each other.
 */
export function alignTabs(text: string): string {
  const lines = text.split(/[\n\f]/).map((line) => line.split(/[\t\v]/));
  const open: { width: number }[] = [];
  const columns = lines.map((cells) => {
    const lastCell = cells.length - 1;
    open.length = Math.min(open.length, lastCell);
    for (let i = 0; i < lastCell; i++) {
      open[i] ??= { width: 0 };
      const column = open[i] as { width: number };
      column.width = Math.max(column.width, lengthOf(cells[i] as string) + 2);
    }
    return [...open];
  });
  return lines
    .map((cells, at) => cells.map((cell, i) => cell + ' '.repeat(Math.max(0, (columns[at]?.[i]?.width ?? 0) - lengthOf(cell)))).join(''))
    .join('\n');
}
/** In characters rather than in halves of them. */
const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length++;
  return length;
};
