/**
 * Which webhooks are asked again in the second round of one request.
 *
 *   round 1   a (IfNeeded), b changes, c (IfNeeded)      → a: it has not seen what b made
 *   between   a plug-in changes the object               → c, too
 */
import type { ApiObject } from '../../kinds/kind.ts';
import { equal } from '../../lib/equal.ts';

export class Rounds {
  private readonly wanted = new Set<string>();
  private readonly earlier = new Set<string>();
  private last: ApiObject | undefined;

  /** A webhook that wants to see later changes was asked. */
  asked(id: string): void {
    this.earlier.add(id);
  }
  /** The object changed: those that were asked before are asked again. */
  wantEarlier(): void {
    for (const id of this.earlier) this.wanted.add(id);
    this.earlier.clear();
  }
  wants(id: string): boolean {
    return this.wanted.has(id);
  }
  /** Keeps what the webhooks of the first round left, where one of them wants to see later changes. */
  remember(object: ApiObject | undefined): void {
    if (this.earlier.size > 0) this.last = structuredClone(object);
  }
  /** Whether a webhook must be called again because the object has changed. */
  changedSince(object: ApiObject | undefined): boolean {
    return this.earlier.size > 0 && !equal(this.last, object);
  }
}
