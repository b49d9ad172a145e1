/** A table on a terminal that is drawn again in place when its rows change. */
import { ageAt } from '@plat-dev/meta/age';
import type { IO } from '../command.ts';
import { paintFor } from '../output/colours.ts';
import {
  type Cell,
  lengthOf,
  padded,
  type TableColumn,
  TableLayout,
  type TableRow,
  type TableStyle,
  widen,
} from '../output/print-table.ts';

/** Milliseconds between two drawings, however often rows change. */
const drawPause = 100;
/** Milliseconds after which ages are looked at again. */
const agePause = 1000;

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';

interface Section {
  readonly style: TableStyle;
  definitions: readonly TableColumn[];
  layout: TableLayout | undefined;
  readonly rows: Map<string, TableRow>;
}

export class LiveTable {
  private readonly io: IO;
  private readonly sections: readonly Section[];
  /** Lengths of the lines on the screen. */
  private drawnWidths: number[] = [];
  private lastDrawing = '';
  private lastTime = Number.NEGATIVE_INFINITY;
  private pending: (() => void) | undefined;
  private readonly ends: (() => void)[] = [];

  /** One section for each kind of objects. */
  constructor(io: IO, styles: readonly TableStyle[]) {
    this.io = io;
    this.sections = styles.map((style) => ({ style, definitions: [], layout: undefined, rows: new Map() }));
    io.out(hideCursor);
    this.ends.push(
      io.terminal.onResize(() => this.draw()),
      io.clock.every(agePause, () => this.draw()),
    );
  }
  /** A change of rows; `DELETED` removes them. A watch sends the columns once only. */
  change(section: number, type: string, definitions: readonly TableColumn[] | null | undefined, rows: readonly TableRow[]): void {
    const one = this.sections[section] as Section;
    // They are null in all answers of a watch but the first.
    if (definitions && definitions.length > 0) {
      one.definitions = definitions;
      one.layout = new TableLayout(one.style, definitions);
    }
    for (const row of rows) {
      if (type === 'DELETED') one.rows.delete(keyOf(row));
      else one.rows.set(keyOf(row), row);
    }
    this.drawSoon();
  }
  /** Leaves the table on the screen, and the terminal as it was. */
  close(): void {
    for (const end of this.ends) end();
    this.pending?.();
    this.draw();
    this.io.out(showCursor);
  }

  private drawSoon(): void {
    if (this.pending !== undefined) return;
    const wait = this.lastTime + drawPause - this.io.clock.monotonic();
    if (wait <= 0) return void this.draw();
    this.pending = this.io.clock.after(wait, () => {
      this.pending = undefined;
      this.draw();
    });
  }
  private draw(): void {
    this.lastTime = this.io.clock.monotonic();
    const { width, height } = this.io.terminal.size() ?? { width: 80, height: 24 };
    const lines = this.fitting(this.lines(), Math.max(1, width), Math.max(2, height));
    const paint = paintFor(this.io);
    const drawing = lines.map((line) => `${line.map((cell) => paint(cell.text, cell.colour)).join('')}${clearLine}\n`).join('');
    const drawingKey = `${width}x${height} ${drawing}`;
    if (drawingKey === this.lastDrawing) return;
    this.lastDrawing = drawingKey;
    // Lines that were longer than the terminal is now take several.
    const up = this.drawnWidths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / Math.max(1, width))), 0);
    this.drawnWidths = lines.map((line) => line.reduce((sum, cell) => sum + lengthOf(cell.text), 0));
    this.io.out(`${up > 0 ? `\u001b[${Math.min(up, height - 1)}A\r` : ''}${drawing}${clearBelow}`);
  }
  private lines(): Cell[][] {
    const lines: Cell[][] = [];
    for (const { layout, rows, style, definitions } of this.sections) {
      if (layout === undefined || rows.size === 0) continue;
      if (lines.length > 0) lines.push([]);
      const aged = [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => layout.cells(this.aged(row, definitions)));
      if (style.headers) aged.unshift(layout.headers().map((text) => ({ text, colour: 'bold' as const })));
      const widths: number[] = [];
      widen(widths, aged);
      for (const line of aged)
        lines.push(line.map((cell, i) => ({ ...cell, text: padded(cell, i === line.length - 1 ? 0 : (widths[i] ?? 0), (text) => text) })));
    }
    return lines.length > 0 ? lines : [[{ text: 'No resources found so far', colour: 'dim' }]];
  }
  /** Ages go on while nothing changes. */
  private aged(row: TableRow, definitions: readonly TableColumn[]): TableRow {
    const created = row.object?.metadata?.creationTimestamp;
    if (created === undefined) return row;
    return {
      ...row,
      cells: row.cells.map((cell, i) => (definitions[i]?.name.toLowerCase() === 'age' ? ageAt(this.io.clock.now(), created) : cell)),
    };
  }
  /** No line may wrap, and the first one must stay on the screen. */
  private fitting(lines: readonly Cell[][], width: number, height: number): Cell[][] {
    const room = height - 1;
    const visibleLines = lines.length <= room ? lines : lines.slice(0, room - 1);
    const clipped = visibleLines.map((line) => clip(line, width));
    if (lines.length > room) clipped.push([{ text: `… ${lines.length - room + 1} more lines`.slice(0, width), colour: 'dim' }]);
    return clipped;
  }
}

const keyOf = ({ object }: TableRow): string => `${object?.metadata?.namespace ?? ''}/${object?.metadata?.name ?? ''}`;

function clip(line: readonly Cell[], width: number): Cell[] {
  const clipped: Cell[] = [];
  let room = width;
  for (const cell of line) {
    if (room <= 0) break;
    const text = [...cell.text].slice(0, room).join('');
    room -= lengthOf(text);
    clipped.push({ ...cell, text });
  }
  return clipped;
}
