/** A line on the terminal that says what a long command does now. Nothing where the output is not a terminal. */
import type { IO } from '../command.ts';
import { isStock } from '../program.ts';
import { shownBytes } from './shown-bytes.ts';

const clearToEnd = Buffer.from('\u001b[K');
const clearLine = Buffer.from('\r\u001b[K');

/** Time before a count is shown, and between two: what is done in a moment shows nothing. */
const FIRST_COUNT_MS = 500;
const COUNT_MS = 100;

export class Progress {
  private readonly io: IO;
  private readonly isShown: boolean;
  private hasOutput = false;
  private nextCount: number;

  constructor(io: IO) {
    this.io = io;
    this.isShown = io.terminal.size() !== undefined && !isStock(io);
    this.nextCount = io.clock.monotonic() + FIRST_COUNT_MS;
  }
  /** `importing 12 of 300`: where something is counted, which takes as long as there is much of it. */
  count(doing: string, done: number, total?: number): void {
    this.counted(() => `${doing} ${done}${total === undefined ? '' : ` of ${total}`}`);
  }
  /** `reading 12.0 MiB of 80.0 MiB`: for the bytes of a file. */
  bytes(doing: string, total?: number): (done: number) => void {
    return (done) => this.counted(() => `${doing} ${shownBytes(done)}${total === undefined ? '' : ` of ${shownBytes(total)}`}`);
  }
  private counted(text: () => string): void {
    if (!this.isShown) return;
    const now = this.io.clock.monotonic();
    if (now < this.nextCount) return;
    this.nextCount = now + COUNT_MS;
    this.show(text());
  }
  show(text: string): void {
    if (!this.isShown) return;
    const { width } = this.io.terminal.size() ?? { width: 80 };
    const line = text.length >= width ? `${text.slice(0, Math.max(width - 2, 1))}…` : text;
    this.io.terminal.writeError(Buffer.from('\r'));
    this.io.err(line);
    this.io.terminal.writeError(clearToEnd);
    this.hasOutput = true;
  }
  /** Before other output. */
  clear(): void {
    if (this.hasOutput) this.io.terminal.writeError(clearLine);
    this.hasOutput = false;
  }
  /** A line that stays, such as a summary. */
  note(text: string): void {
    this.clear();
    if (this.isShown) this.io.err(`${text}\n`);
  }
}

/** `12 objects: 3 created, 1 configured, 8 unchanged` */
export function summaryText(verbs: readonly string[], failures: number): string {
  const counts = new Map<string, number>();
  for (const verb of verbs) counts.set(verb, (counts.get(verb) ?? 0) + 1);
  const parts = [...counts].map(([verb, count]) => `${count} ${verb}`);
  if (failures > 0) parts.push(`${failures} failed`);
  return `${verbs.length + failures} objects: ${parts.join(', ')}`;
}
