/** Where each line stands on the page, worked out from its text: with letters of one width none has to be measured. */
import { type LogLine, shownText } from './log-line.ts';

/** As the style sheet has it. */
export const ROW_HEIGHT = 20;
const TAB_WIDTH = 8;
const WIDE_FROM = 0x1100;

/** Columns that a text takes at most: letters of East Asia and pictures take two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character === '\t' ? TAB_WIDTH : (character.codePointAt(0) as number) >= WIDE_FROM ? 2 : 1;
  return columns;
}

export interface Layout {
  /** Where each line begins, and at last where the list ends. */
  readonly tops: Float64Array;
}

/** The heights of lines, of which each is worked out once for a width. */
export class RowHeights {
  readonly #columns: number | undefined;
  readonly #rows = new WeakMap<LogLine, number>();

  /** Columns of a row; undefined where lines are not wrapped. */
  constructor(columns: number | undefined) {
    this.#columns = columns;
  }

  layoutOf(lines: readonly LogLine[]): Layout {
    const tops = new Float64Array(lines.length + 1);
    for (const [i, line] of lines.entries()) tops[i + 1] = (tops[i] as number) + this.#rowsOf(line) * ROW_HEIGHT;
    return { tops };
  }

  #rowsOf(line: LogLine): number {
    if (this.#columns === undefined) return 1;
    let rows = this.#rows.get(line);
    if (rows === undefined) {
      rows = Math.max(1, Math.ceil(columnsOf(shownText(line.text)) / this.#columns));
      this.#rows.set(line, rows);
    }
    return rows;
  }
}

/** Rows beyond the edges, so that scrolling shows no gap. */
const BEYOND = 20;

/** The rows in sight: from `first` up to, not including, `end`. */
export function rowsInSight({ tops }: Layout, top: number, height: number): { readonly first: number; readonly end: number } {
  const count = tops.length - 1;
  return { first: Math.max(0, rowAt(tops, top) - BEYOND), end: Math.min(count, rowAt(tops, top + height) + 1 + BEYOND) };
}

/** The row that stands at a height. */
function rowAt(tops: Float64Array, y: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((tops[middle] as number) <= y) low = middle;
    else high = middle;
  }
  return low;
}
