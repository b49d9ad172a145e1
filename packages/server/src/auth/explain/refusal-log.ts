/**
 * The last requests of each user that no authorizer allowed, for users who ask why. All of it is bounded, and gone after a restart:
 *
 *   refusals of one user     the newest 20
 *   users                    1,000; the one whose last refusal is oldest is forgotten first
 *   bytes                    1 MiB, in the same order
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { type Attributes, wellKnown } from '../types.ts';

export interface Refusal {
  readonly auditID: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly attributes: Attributes;
}

export const MOST_REFUSALS = 20;
export const MOST_USERS = 1000;
export const MOST_BYTES = 1024 * 1024;
/** Requests whose names and paths are longer are not kept: no question could be asked of them. */
const MOST_CHARACTERS = 4096;

export class RefusalLog {
  private readonly byUser = new BoundedCache<string, readonly Refusal[]>(MOST_USERS, {
    most: MOST_BYTES,
    of: (refusals, user) => refusals.reduce((sum, refusal) => sum + bytesOf(refusal), user.length),
  });

  note(refusal: Refusal): void {
    const { name } = refusal.attributes.user;
    // Nobody in particular: what one stranger was refused is not for the next.
    if (name === wellKnown.anonymous || bytesOf(refusal) > MOST_CHARACTERS) return;
    this.byUser.set(name, [refusal, ...(this.byUser.get(name) ?? []).slice(0, MOST_REFUSALS - 1)]);
  }
  /** Those of a user, newest first. */
  of(user: string, auditID = ''): readonly Refusal[] {
    const refusals = this.byUser.get(user) ?? [];
    return auditID === '' ? refusals : refusals.filter((refusal) => refusal.auditID === auditID);
  }
}
/** About what a refusal takes; its user is shared with the requests. */
function bytesOf({ auditID, attributes }: Refusal): number {
  const { verb, group, resource, subresource, name, namespace, path } = attributes;
  return [auditID, verb, group, resource, subresource, name, namespace, path].reduce((sum, text) => sum + text.length, 200);
}
