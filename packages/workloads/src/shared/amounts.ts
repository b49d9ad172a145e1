/** Numbers and percentages of a number, as strategies have them: `2`, `"25%"`. */

/** Rounded up: `30%` of 10 nodes is 3, of 1 node 1. */
export const scaledUp = (value: number | string, of: number): number => Math.ceil(scaled(value, of));
/** Rounded down: `30%` of 10 pods is 3, of 1 pod 0. */
export const scaledDown = (value: number | string, of: number): number => Math.floor(scaled(value, of));

/** The server accepts nothing else; any other text is nothing. */
function scaled(value: number | string, of: number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  return match === null ? 0 : (Number(match[1]) * of) / 100;
}
