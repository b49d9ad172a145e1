/** What a page sends over its connection for watches. */
import { badRequest } from '@plat-dev/meta/errors';

/**
 *   {"id": 1, "open": "/api/v1/pods?watch=true&resourceVersion=5", "accept": "application/json"}
 *   {"id": 1, "close": true}
 */
export type PageMessage = OpenMessage | { readonly id: number; readonly open?: undefined };
export interface OpenMessage {
  readonly id: number;
  readonly open: string;
  readonly accept: string;
}

/** Throws where the message is none of them. */
export function readPageMessage(text: string): PageMessage {
  let message: Readonly<Record<string, unknown>>;
  try {
    message = JSON.parse(text) as typeof message;
  } catch {
    throw badRequest('the message is not JSON');
  }
  const { id, open, close, accept = 'application/json' } = message ?? {};
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw badRequest('the message has no id');
  if (close === true) return { id };
  if (typeof open !== 'string' || typeof accept !== 'string') throw badRequest('the message opens and closes nothing');
  return { id, open, accept };
}

/** Whether a URL is that of a watch. */
export function isWatchUrl(url: string): boolean {
  if (!/^\/apis?\/[\x21-\x22\x24-\x7e]*$/.test(url)) return false;
  const watch = new URL(url, 'http://api').searchParams.get('watch');
  return watch === 'true' || watch === '1';
}
