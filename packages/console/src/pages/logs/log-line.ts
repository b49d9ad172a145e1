/** A line of a log as the API sends it with `timestamps=true`. */
import { visibleText } from '../../parts/visible-text.ts';

export interface LogLine {
  /** Counts up in the order of arrival. */
  readonly id: number;
  readonly container: string;
  /** As the server has it, to the nanosecond; empty where the line has none. */
  readonly time: string;
  /** The same in milliseconds since 1970, by which lines of several containers are put in order. */
  readonly at: number;
  readonly text: string;
}

const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?/;

/** `2024-05-01T10:00:00.5Z GET /` has a time and a text; a message of the node agent is a text alone. */
export function splitLine(line: string): { readonly time: string; readonly text: string } {
  const time = stamp.exec(line.slice(0, 64));
  return time === null ? { time: '', text: line } : { time: time[1] as string, text: line.slice(time[0].length) };
}

/** Sequences that set colours and styles of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with a control character.
const styles = /\u001b\[[\d;:]*m/g;

/** Longer lines show their beginning, and a button for the whole. */
export const LONGEST_SHOWN = 4000;

/** A line as it is shown: without colours, and with all else that cannot be seen made visible. */
export function shownText(text: string): string {
  return visibleText(text.slice(0, LONGEST_SHOWN).replace(styles, '')).replaceAll('\n', '⏎');
}
