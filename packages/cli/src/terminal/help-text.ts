/** Help as it is printed: by the name of the program, and on a narrow terminal in lines that end between words. */
import type { IO } from '../command.ts';
import { asCalled } from '../program.ts';

/** Help is written for lines of so many characters; on wider terminals all lines stay as they are. */
const WRITTEN_FOR = 100;

export function shownHelp(text: string, io: Pick<IO, 'program' | 'terminal'>): string {
  const width = io.terminal.size()?.width ?? WRITTEN_FOR;
  const helpText = asCalled(text, io);
  return width > 0 && width < WRITTEN_FOR ? foldedLines(helpText, width) : helpText;
}

/**
 * Lines that are longer than the width go on in the next ones, indented as they are. A word goes to the left where it would not
 * fit otherwise; only one that is longer than a line is left for the terminal to break.
 */
export function foldedLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width ? [line] : folded(line, width)))
    .join('\n');
}
function folded(line: string, width: number): string[] {
  const indent = line.length - line.trimStart().length;
  const lines: string[] = [];
  let current = '';
  for (const [spaced] of line.matchAll(/\s*\S+/g)) {
    const word = spaced.trimStart();
    if (current !== '' && current.length + spaced.length <= width) current += spaced;
    else {
      if (current !== '') lines.push(current);
      current = `${' '.repeat(Math.max(0, Math.min(indent, width - word.length)))}${word}`;
    }
  }
  return [...lines, current];
}
