/**
 * Columns as the stock client aligns them: every cell but the last of a line ends in a tab, and a column is as wide as its widest
 * cell and the padding, at least `least`.
 *
 *   tabbed([['REVISION', 'CAUSE'], ['1', 'new image']], { padding: 2 })  →  REVISION  CAUSE
 *                                                                           1         new image
 */
export interface TabbedStyle {
  readonly padding: number;
  readonly least?: number;
  /** The last cell of a line ends in a tab, too: it is padded. */
  readonly closed?: boolean;
}

/** The stock client's style of tables that are made of cells that all end in a tab. */
export const closedTable: TabbedStyle = { least: 6, padding: 3, closed: true };

export function tabbed(lines: readonly (readonly string[])[], { padding, least = 0, closed = false }: TabbedStyle): string {
  const widths: number[] = [];
  const lengths = lines.map((line) => line.map((cell) => [...cell].length));
  for (const line of lengths) {
    const columns = closed ? line.length : line.length - 1;
    for (let i = 0; i < columns; i++) widths[i] = Math.max(widths[i] ?? least, (line[i] as number) + padding);
  }
  return lines
    .map((line, at) => {
      const cells = line.map((cell, i) =>
        !closed && i === line.length - 1 ? cell : cell + ' '.repeat((widths[i] as number) - (lengths[at]?.[i] as number)),
      );
      return `${cells.join('')}\n`;
    })
    .join('');
}
