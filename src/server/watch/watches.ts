import type { Clock } from '../../lib/clock.ts';
import { Rounds } from './rounds.ts';

/** All watches of a server. */
export class Watches {
  /** Those that are open, so that shutdown can end them. */
  readonly open = new Set<{ end(): void }>();
  /** Connections are written to in these rounds; parts of the server itself, to whom a write costs next to nothing, in those. */
  readonly outside: Rounds;
  readonly inside: Rounds;

  constructor(clock: Clock) {
    this.outside = new Rounds(clock);
    this.inside = new Rounds(clock);
  }
}
