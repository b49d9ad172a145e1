/** Owners that were found to be absent: an object that was gone does not come back, so it need not be asked for again. */
export class AbsentOwners {
  private readonly known = new Set<string>();
  private readonly limit: number;

  constructor(limit = 500) {
    this.limit = limit;
  }
  has(key: string): boolean {
    return this.known.has(key);
  }
  add(key: string): void {
    this.known.delete(key);
    this.known.add(key);
    if (this.known.size > this.limit) this.known.delete(this.known.values().next().value as string);
  }
}
