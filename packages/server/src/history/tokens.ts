/**
 * Where the next page of history, or of a list at a kept version, begins. Such a token does not expire: of a page of history, versions that
 * are no longer kept are absent; a list of which something is no longer kept is refused.
 */
import { jsonText } from '@plat-dev/lib/json-text';
import { badRequest } from '@plat-dev/meta/errors';
import { parseJson } from '@plat-dev/schema/json/parse';

interface TokenFields {
  /** Keys of the list begin with this. */
  readonly history?: unknown;
  /** Of history: the page is of earlier revisions. */
  readonly before?: unknown;
  /** Of a list: the revision that it shows, and the first key of the page. */
  readonly at?: unknown;
  readonly from?: unknown;
}

/** `place`: what keys of the list begin with. */
export const historyToken = (before: number, place: string): string => written({ history: place, before });
export const keptListToken = (at: number, from: string, place: string): string => written({ history: place, at, from });

const written = (fields: TokenFields): string => Buffer.from(jsonText(fields)).toString('base64url');
/** How the text of these tokens begins, and that of others does not. */
const BEGINNING = Buffer.from('{"history').toString('base64url');
export const isHistoryToken = (text: string): boolean => text.startsWith(BEGINNING);

export function readHistoryToken(text: string, place: string): number {
  const { history, before } = fieldsOf(text);
  if (!Number.isSafeInteger(before)) throw badRequest('invalid continue token: it is not one of a list of history');
  if (history !== place) throw badRequest('invalid continue token: it is one of another list of history');
  return before as number;
}

export function readKeptListToken(text: string, place: string): { readonly at: number; readonly from: string } {
  const { history, at, from } = fieldsOf(text);
  if (!isRevision(at) || typeof from !== 'string') throw badRequest('invalid continue token: it is not one of a list at a resourceVersion');
  if (history !== place || !from.startsWith(place)) throw badRequest('invalid continue token: it is one of another list');
  return { at, from };
}

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function fieldsOf(text: string): TokenFields {
  try {
    return (parseJson(Buffer.from(text, 'base64url')) ?? {}) as object;
  } catch {
    return {};
  }
}
