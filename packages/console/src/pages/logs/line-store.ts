/** The newest lines of one or more logs in the order of their times. */
import type { LogLine } from './log-line.ts';

/** The oldest lines are dropped first. */
export const MOST_LINES = 50_000;
export const MOST_CHARACTERS = 16 * 1024 * 1024;

export class LineStore {
  /** Another array after each change, so that it can be used as a value. */
  lines: readonly LogLine[] = [];
  isTruncated = false;
  #characters = 0;

  add(arrived: readonly LogLine[]): void {
    if (arrived.length === 0) return;
    const last = this.lines.at(-1);
    const lines = [...this.lines, ...arrived];
    const isInOrder = arrived.every(({ at }, i) => at >= (i === 0 ? (last?.at ?? at) : (arrived[i - 1] as LogLine).at));
    // The sort is stable: lines of one time stay as they came.
    if (!isInOrder) lines.sort((one, other) => one.at - other.at);
    for (const { text } of arrived) this.#characters += text.length;
    this.lines = this.#withinBounds(lines);
  }

  #withinBounds(lines: readonly LogLine[]): readonly LogLine[] {
    let first = Math.max(0, lines.length - MOST_LINES);
    for (let i = 0; i < first; i++) this.#characters -= (lines[i] as LogLine).text.length;
    while (this.#characters > MOST_CHARACTERS && first < lines.length - 1) this.#characters -= (lines[first++] as LogLine).text.length;
    if (first === 0) return lines;
    this.isTruncated = true;
    return lines.slice(first);
  }
}
