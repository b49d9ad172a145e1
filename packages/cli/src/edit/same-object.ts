/** Whether a write changed more than managedFields. */
import { isDeepStrictEqual } from 'node:util';
import type { ApiItem } from '../output/print-objects.ts';

/** Equal except for managedFields and the resourceVersion. */
export function sameObject(before: ApiItem, after: ApiItem): boolean {
  return isDeepStrictEqual(bare(before), bare(after));
}
function bare(item: ApiItem): unknown {
  const { managedFields: _, resourceVersion: __, ...metadata } = item.metadata ?? {};
  return { ...item, metadata };
}
