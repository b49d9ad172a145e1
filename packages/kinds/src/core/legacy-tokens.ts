/**
 * Tokens of service accounts that Secrets hold: since when their use is noted, when they were used last, and since when they are invalid.
 * All three are days, as `2024-05-01`, of UTC.
 */
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';

/** The label of a Secret whose token was used on that day. */
export const lastUsedLabel = (identity: Identity): QualifiedName => domainName(identity, 'legacy-token-last-used');
/** The label of a Secret whose token is refused since that day. */
export const invalidSinceLabel = (identity: Identity): QualifiedName => domainName(identity, 'legacy-token-invalid-since');
/** The key of the config map that says since when use is noted. */
export const TRACKED_SINCE = 'since';

export const DAY_MS = 24 * 3_600_000;

/** `2024-05-01` */
export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

/** The beginning of a day; undefined for any other text. */
export function readDay(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const millis = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(millis) || dayOf(millis) !== text ? undefined : millis;
}
