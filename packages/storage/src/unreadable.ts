/**
 * Unreadable objects in the store: their checksum is wrong, their decryption key is missing, their
 * bytes are not an object. They are set aside, so that one of them fails neither a start nor a list.
 */
import type { Log } from '@plat-dev/lib/log';

export interface UnreadableObject {
  /** Key within its collection: `namespace/name`, or `name`. */
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  /** Contains nothing of the object. */
  readonly reason: string;
}

/** Why a value could not be read, without quoting it; errors of the JSON parser do. */
export function whyUnreadable(error: unknown, value: Buffer): string {
  if ((error as { code?: unknown }).code === 'ERR_STRING_TOO_LONG' || error instanceof RangeError)
    return `it is too large or too deep to be read (${value.length} bytes)`;
  if (error instanceof SyntaxError) return 'its bytes are not JSON';
  if (error instanceof UnknownFormat) return error.message;
  return 'its bytes are not an object of this kind';
}

/** The head of a value shows that it was written in another format. */
export class UnknownFormat extends Error {}

/** Maximum objects that are logged one by one; the metric and the health check count all of them. */
const LOGGED = 100;

/** Logs every object that is set aside, up to a limit. The key is that in the store. */
export function logUnreadable(log: Pick<Log, 'error'>): (object: UnreadableObject) => void {
  let logged = 0;
  return ({ key, revision, reason }) => {
    if (logged > LOGGED) return;
    if (logged++ < LOGGED) log.error('stored object cannot be read, set aside', { key, revision, reason });
    else log.error('further stored objects that cannot be read are not logged', { logged: LOGGED });
  };
}
