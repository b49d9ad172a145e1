import type { Clock } from '@plat-dev/lib/clock';
import { Rounds } from './rounds.ts';

/** All watches of a server. */
export class Watches {
  /** Those that are open, so that shutdown can end them. */
  private readonly open = new Set<{ end(): void }>();
  private ended = false;
  /** Rounds for connections, and rounds for parts of the server itself, to which a write costs next to nothing. */
  readonly outside: Rounds;
  readonly inside: Rounds;

  constructor(clock: Clock) {
    this.outside = new Rounds(clock);
    this.inside = new Rounds(clock);
  }

  /** Whether events wait to be written to a watch. */
  get isPending(): boolean {
    return this.inside.isPending || this.outside.isPending;
  }
  /** A watch that begins during a shutdown ends at once. */
  add(watch: { end(): void }): void {
    this.open.add(watch);
    if (this.ended) watch.end();
  }
  delete(watch: { end(): void }): void {
    this.open.delete(watch);
  }
  /** Ends all, and future ones. */
  end(): void {
    this.ended = true;
    for (const watch of [...this.open]) watch.end();
  }
}
