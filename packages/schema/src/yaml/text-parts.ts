/** Parts of a text after which its scan yields. A power of two. */
export const PARTS_A_STEP = 512;

/** Builds a text: its parts are joined some at a time, as it may have millions of them. */
export class TextParts {
  private readonly joined: string[] = [];
  private latest: string[] = [];

  /** Whether to yield, after so many parts. */
  add(part: string): boolean {
    if (this.latest.push(part) < PARTS_A_STEP) return false;
    this.joined.push(this.latest.join(''));
    this.latest = [];
    return true;
  }
  text(): string {
    return this.joined.length === 0 ? this.latest.join('') : this.joined.join('') + this.latest.join('');
  }
}
