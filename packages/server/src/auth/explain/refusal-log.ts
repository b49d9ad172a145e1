/**
 * The last requests of each user that no authorizer allowed, for users who ask why. All of it is bounded, and gone after a restart:
 *
 *   refusals of one user     the newest 20
 *   users                    1,000; the one whose last refusal is oldest is forgotten first
 *   bytes                    1 MiB, in the same order
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { jsonText } from '@plat-dev/lib/json-text';
import { parseExact } from '@plat-dev/schema/json/parse';
import { type Attributes, wellKnown } from '../types.ts';

/** What was asked for. */
export type RefusedAction = Omit<Attributes, 'user'>;
export interface Refusal {
  readonly auditID: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly attributes: RefusedAction;
}

export const MOST_REFUSALS = 20;
export const MOST_USERS = 1000;
export const MOST_BYTES = 1024 * 1024;
/** Requests whose names and paths are longer are not kept: no question could be asked of them. */
const MOST_BYTES_OF_ONE = 4096;
/** About what an entry takes besides its text. */
const BYTES_BESIDES = 100;

export class RefusalLog {
  /** As JSON: texts and users of requests are parts of larger ones, such as their headers, which would stay in memory with them. */
  private readonly byUser = new BoundedCache<string, readonly string[]>(MOST_USERS, {
    most: MOST_BYTES,
    of: (refusals, user) => refusals.reduce((sum, text) => sum + Buffer.byteLength(text) + BYTES_BESIDES, user.length),
  });

  note(refusal: Refusal & { readonly attributes: Attributes }): void {
    const { user, ...attributes } = refusal.attributes;
    // Nobody in particular: what one stranger was refused is not for the next.
    if (user.name === wellKnown.anonymous) return;
    const text = jsonText({ ...refusal, attributes });
    if (Buffer.byteLength(text) > MOST_BYTES_OF_ONE) return;
    const name = Buffer.from(user.name).toString();
    this.byUser.set(name, [text, ...(this.byUser.get(name) ?? []).slice(0, MOST_REFUSALS - 1)]);
  }
  /** Those of a user, newest first. */
  of(user: string, auditID = ''): readonly Refusal[] {
    const refusals = (this.byUser.get(user) ?? []).map((text) => parseExact(text) as Refusal);
    return auditID === '' ? refusals : refusals.filter((refusal) => refusal.auditID === auditID);
  }
}
