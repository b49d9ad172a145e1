/** Rows beyond the edges, so that scrolling shows no gap. */
const BEYOND = 10;

/** Which rows of one height are in sight: from `first` up to, not including, `end`. */
export function visibleRange(
  count: number,
  rowHeight: number,
  top: number,
  height: number,
): { readonly first: number; readonly end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - BEYOND));
  return { first, end: Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND) };
}
