/** Which parts of a large value are walked in one step, and after how many of them a walk yields. */

/** Maximum entries of lists and objects of a part that is walked in one step. */
export const ENTRIES_A_STEP = 256;
/** Small parts after which a walk yields; a power of two. */
const PARTS_A_STEP = 64;

export class SmallParts {
  private readonly most: number;
  private parts = 0;

  constructor(most: number) {
    this.most = most;
  }
  isSmall(value: unknown): boolean {
    return entriesLeft(value, this.most) >= 0;
  }
  /** Whether enough parts were walked to yield. */
  isPlace(): boolean {
    return (++this.parts & (PARTS_A_STEP - 1)) === 0;
  }
}

/** The rest of so many entries; below zero if a value has more, which are not counted to the end. */
function entriesLeft(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return most;
  let left = most;
  if (Array.isArray(value)) {
    left -= value.length;
    for (let i = 0; i < value.length && left >= 0; i++) left = entriesLeft(value[i], left);
    return left;
  }
  for (const key in value) {
    left = entriesLeft((value as { [key: string]: unknown })[key], left - 1);
    if (left < 0) return left;
  }
  return left;
}
