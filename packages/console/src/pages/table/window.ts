/** Which rows of a long table are drawn. */

export const ROW_HEIGHT = 28;
/** Rows drawn above and below what can be seen, so that a turn of the wheel finds them there. */
const MARGIN = 8;
/** The window moves by this many rows, so that most frames of a slow scroll draw nothing. */
export const STEP = 8;

export interface RowWindow {
  readonly first: number;
  /** The first that is not drawn any more. */
  readonly end: number;
}

export function rowWindow(scrollTop: number, height: number, count: number): RowWindow {
  const length = windowLength(height);
  const top = Math.floor(scrollTop / ROW_HEIGHT) - MARGIN;
  const first = Math.max(0, Math.min(top - (top % STEP), count - length));
  return { first, end: Math.min(count, first + length) };
}

/** How many rows a window has at most. */
export const windowLength = (height: number): number => Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN + STEP;

/** Where to scroll so that a row can be seen; the same place where it can be already. */
export function scrollTopFor(index: number, scrollTop: number, height: number): number {
  const top = index * ROW_HEIGHT;
  if (top < scrollTop) return top;
  return top + ROW_HEIGHT > scrollTop + height ? top + ROW_HEIGHT - height : scrollTop;
}
