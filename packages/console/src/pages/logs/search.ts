/** Search in lines: a text as it stands, in capitals or not. */
import type { LogLine } from './log-line.ts';

/** The positions of the lines that have the text; none for an empty one. */
export function matchesIn(lines: readonly LogLine[], wanted: string): number[] {
  const text = wanted.toLowerCase();
  return text === '' ? [] : lines.flatMap((line, i) => (line.text.toLowerCase().includes(text) ? [i] : []));
}

export interface Part {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Marks of one line; a line of the same letter over and over has no end of them. */
const MOST_MARKS = 100;

/** A line cut at what was searched for. */
export function partsOf(text: string, wanted: string): Part[] {
  if (wanted === '') return [{ text, isMatch: false }];
  const lower = text.toLowerCase();
  // A few letters have another length in small: their lines are shown without marks.
  if (lower.length !== text.length) return [{ text, isMatch: false }];
  const parts: Part[] = [];
  let from = 0;
  for (
    let at = lower.indexOf(wanted.toLowerCase());
    at >= 0 && parts.length < 2 * MOST_MARKS;
    at = lower.indexOf(wanted.toLowerCase(), from)
  ) {
    if (at > from) parts.push({ text: text.slice(from, at), isMatch: false });
    from = at + wanted.length;
    parts.push({ text: text.slice(at, from), isMatch: true });
  }
  if (from < text.length) parts.push({ text: text.slice(from), isMatch: false });
  return parts;
}
