/** Which rows of a long table are drawn. */

export const ROW_HEIGHT = 28;
/** Rows drawn above and below what can be seen, so that a turn of the wheel finds them there. */
const MARGIN = 12;

export interface RowWindow {
  readonly first: number;
  /** The first that is not drawn any more. */
  readonly end: number;
}

export function rowWindow(scrollTop: number, height: number, count: number): RowWindow {
  const last = Math.ceil((scrollTop + height) / ROW_HEIGHT);
  const first = Math.min(Math.floor(scrollTop / ROW_HEIGHT), count);
  return { first: Math.max(0, first - MARGIN), end: Math.max(0, Math.min(count, last + MARGIN)) };
}

/** Where to scroll so that a row can be seen; the same place where it can be already. */
export function scrollTopFor(index: number, scrollTop: number, height: number): number {
  const top = index * ROW_HEIGHT;
  if (top < scrollTop) return top;
  return top + ROW_HEIGHT > scrollTop + height ? top + ROW_HEIGHT - height : scrollTop;
}
