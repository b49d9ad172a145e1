/**
 * Objects that are in the store and cannot be read: their checksum is wrong, their key for decryption is missing, their
 * bytes are no object. They are set aside, so that one of them stops neither a start nor a list.
 */
import type { Log } from '../lib/log.ts';

export interface UnreadableObject {
  /** Key within its collection: `namespace/name`, or `name`. */
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  /** Holds nothing of the object. */
  readonly reason: string;
}

/** Why a value could not be read, in words that quote nothing of it; errors of the JSON parser do. */
export function whyUnreadable(error: unknown, value: Buffer): string {
  if ((error as { code?: unknown }).code === 'ERR_STRING_TOO_LONG' || error instanceof RangeError)
    return `it is too large or too deep to be read (${value.length} bytes)`;
  if (error instanceof SyntaxError) return 'its bytes are not JSON';
  if (error instanceof UnknownFormat) return error.message;
  return 'its bytes are not an object of this kind';
}

/** The head of a value says that it was written in another way. */
export class UnknownFormat extends Error {}

/** So many objects are logged one by one; the metric and the health check count all of them. */
const LOGGED = 100;

/** Logs every object that is set aside, up to a bound. The key is that in the store. */
export function logUnreadable(log: Pick<Log, 'error'>): (object: UnreadableObject) => void {
  let logged = 0;
  return ({ key, revision, reason }) => {
    if (logged > LOGGED) return;
    if (logged++ < LOGGED) log.error('stored object cannot be read, set aside', { key, revision, reason });
    else log.error('further stored objects that cannot be read are not logged', { logged: LOGGED });
  };
}
