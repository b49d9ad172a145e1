/**
 * The indexes of an Indexed job that have succeeded, as its status has them: `1,3-5,7`. They are kept as ranges: a job may have
 * a hundred thousand.
 */
export interface Range {
  readonly first: number;
  readonly last: number;
}

export class Indexes {
  private readonly ranges: readonly Range[];

  private constructor(ranges: readonly Range[]) {
    this.ranges = ranges;
  }
  static readonly none = new Indexes([]);

  /** Reads the text of a status. What is out of place or not below `completions` is left out. */
  static parse(text: string, completions: number): Indexes {
    const ranges: Range[] = [];
    for (const part of text.split(',')) {
      const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
      if (match === null) continue;
      const first = Number(match[1]);
      const last = Math.min(match[2] === undefined ? first : Number(match[2]), completions - 1);
      const previousRange = ranges.at(-1);
      if (first > last || (previousRange !== undefined && first <= previousRange.last)) continue;
      if (previousRange?.last === first - 1) ranges[ranges.length - 1] = { first: previousRange.first, last };
      else ranges.push({ first, last });
    }
    return new Indexes(ranges);
  }
  get count(): number {
    return this.ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }
  has(index: number): boolean {
    let low = 0;
    let high = this.ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const { first, last } = this.ranges[middle] as Range;
      if (index < first) high = middle - 1;
      else if (index > last) low = middle + 1;
      else return true;
    }
    return false;
  }
  with(more: Iterable<number>): Indexes {
    const addedRanges = [...new Set(more)].filter((index) => !this.has(index)).map((index) => ({ first: index, last: index }));
    if (addedRanges.length === 0) return this;
    const joined: { first: number; last: number }[] = [];
    for (const { first, last } of [...this.ranges, ...addedRanges].sort((a, b) => a.first - b.first)) {
      const previousRange = joined.at(-1);
      if (previousRange !== undefined && first <= previousRange.last + 1) previousRange.last = Math.max(previousRange.last, last);
      else joined.push({ first, last });
    }
    return new Indexes(joined);
  }
  /** The lowest indexes below `completions` that are neither here nor in use, at most `count` of them. */
  firstMissing(count: number, completions: number, used: ReadonlySet<number>): number[] {
    const missingIndexes: number[] = [];
    let next = 0;
    for (const { first, last } of [...this.ranges, { first: completions, last: completions }]) {
      for (; next < first && missingIndexes.length < count; next++) if (!used.has(next)) missingIndexes.push(next);
      if (missingIndexes.length >= count) break;
      next = Math.max(next, last + 1);
    }
    return missingIndexes;
  }
  /** `1,3-5,7`; two neighbours are written as a list. */
  toString(): string {
    return this.ranges
      .map(({ first, last }) => (first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
      .join(',');
  }
}
