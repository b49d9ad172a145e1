// Figures of benches: what stands for several, and how they are written.
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
export const range = (values) => (values.length === 0 ? 'not measured' : `${Math.min(...values)}–${Math.max(...values)}`);

export const row = (cells) => `| ${cells.join(' | ')} |`;
/** The head of a table in Markdown. */
export const head = (cells) => [row(cells), `|${'---|'.repeat(cells.length)}`];
