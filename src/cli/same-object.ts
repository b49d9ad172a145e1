/** Whether a write changed anything that a person would call a change. */
import { isDeepStrictEqual } from 'node:util';
import type { ApiItem } from './print-objects.ts';

/** The same but for the account of who set what, and for the version that this account alone may have moved. */
export function sameObject(before: ApiItem, after: ApiItem): boolean {
  return isDeepStrictEqual(bare(before), bare(after));
}
function bare(item: ApiItem): unknown {
  const { managedFields: _, resourceVersion: __, ...metadata } = item.metadata ?? {};
  return { ...item, metadata };
}
