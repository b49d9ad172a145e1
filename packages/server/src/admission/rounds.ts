/**
 * Which webhooks, or policies, are called again in the second round of one request (reinvocation).
 *
 *   round 1   a (IfNeeded), b changes, c (IfNeeded)      → a: it has not seen the change of b
 *   between   a plug-in changes the object               → c, too
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';

export class Rounds {
  private readonly wantedIds = new Set<string>();
  private readonly earlier = new Set<string>();
  private last: ApiObject | undefined;

  /** One with `IfNeeded` was called. */
  recordCall(id: string): void {
    this.earlier.add(id);
  }
  /** The object changed: earlier ones are called again. */
  wantEarlier(): void {
    for (const id of this.earlier) this.wantedIds.add(id);
    this.earlier.clear();
  }
  wants(id: string): boolean {
    return this.wantedIds.has(id);
  }
  /** Keeps the result of the first round, if one that was called has `IfNeeded`. */
  remember(object: ApiObject | undefined): void {
    if (this.earlier.size > 0) this.last = structuredClone(object);
  }
  /** Whether those of the first round must be called again because the object has changed. */
  changedSince(object: ApiObject | undefined): boolean {
    return this.earlier.size > 0 && !equal(this.last, object);
  }
}
